# Included by the Makefile of each adapter in C, which sets FLAGS and LIBS for its library.
CFLAGS ?= -O2 -Wall -Wextra
# The folder of the program.
TO ?= .

$(TO)/adapter: adapter.c ../c/adapter.c ../c/adapter.h
	$(CC) $(CPPFLAGS) $(CFLAGS) $(FLAGS) -I../c $(LDFLAGS) -o $@ adapter.c ../c/adapter.c $(LIBS)

clean:
	rm -f $(TO)/adapter
