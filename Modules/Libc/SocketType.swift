/// The types and flags of `socket(2)` as numbers. Glibc declares them as an enumeration, Musl as macros. The constants
/// are not available with Darwin.
package enum SocketType {
    #if canImport(Glibc)
        package static let stream = Int32(SOCK_STREAM.rawValue)
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
        package static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        package static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    #elseif canImport(Musl)
        package static let stream = SOCK_STREAM
        package static let datagram = SOCK_DGRAM
        package static let closeOnExec = SOCK_CLOEXEC
        package static let nonBlocking = SOCK_NONBLOCK
    #endif
}
