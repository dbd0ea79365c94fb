"""One folder a mode; `plan` is what all plans are made of."""
