"""Why a row pattern did not match: need, viable prefixes and blockers, as docs/semantics.md defines them."""
