// Functions without a body are allowed only in a package that has a file in assembly.
