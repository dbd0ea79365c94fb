"""What all grammars read: tokens, lexemes of patterns, quantifiers, names, scalar expressions as sqlglot trees."""
