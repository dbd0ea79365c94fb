"""Parts of matchers, each compared with a plainer way to the same answer."""
