"""Names to references: sqlglot's trees to expressions in which every reference is a target row and a column."""
