"""The trend benchmark: the queries and figures of the COGRA paper, with the approaches that it is compared with."""
