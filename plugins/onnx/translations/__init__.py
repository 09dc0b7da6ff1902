"""The translations of the catalogue's operators, a file for each family."""
