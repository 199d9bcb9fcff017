// The only file that imports the C library. All other files import this module, so that the same code builds with Glibc
// and Musl (Swift's static Linux SDK). Only Glibc is tested. The modules that use sockets, signals and libcurl's event
// loop need Linux.

#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Darwin)
    @_exported public import Darwin
#else
    #error("Alcedo needs a POSIX C library: Glibc, Musl or Darwin.")
#endif
