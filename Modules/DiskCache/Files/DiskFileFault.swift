import AlcedoRuntime

/// The outcome of a ``DiskFileOperation`` that does not succeed as usual.
public enum DiskFileFault: Sendable, Hashable {
    /// The operation fails with an error number of the system, such as `EIO`, and does nothing.
    case error(Int32)
    /// The system call reads or writes at most this number of bytes, at least one, as it may at any time. The cache
    /// then continues with the rest, which is another operation. Other actions are not affected.
    case shortened(to: Int)
}

extension DiskFileFault {
    /// The fault for a ``Descriptor``.
    var fileFault: FileFault {
        switch self {
        case .error(let number): .error(number)
        case .shortened(let count): .shortened(count)
        }
    }
}
