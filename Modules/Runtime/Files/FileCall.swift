/// A call that a ``Descriptor`` is about to make, for hooks that let the call fail.
package struct FileCall: Sendable {
    package enum Action: String, Sendable {
        case open, openForWriting, read, write, synchronize, rename, remove, makeDirectory, list
    }

    package var action: Action
    /// The path of the file, as the caller has passed it: absolute, or relative to an open directory. For a renaming,
    /// the new path.
    package var path: String
    /// The maximum number of bytes to read or write; zero for other actions.
    package var byteCount = 0

    package init(_ action: Action, _ path: String, byteCount: Int = 0) {
        self.action = action
        self.path = path
        self.byteCount = byteCount
    }
}

/// The outcome of a call that a hook changes.
package enum FileFault: Sendable {
    /// The call fails with this error number, without reaching the system.
    case error(Int32)
    /// A call that reads or writes handles at most this number of bytes, at least one.
    case shortened(Int)
}

/// A closure that is called before the calls of a ``Descriptor`` and of those that are opened below it. With nil, the
/// call is made unchanged. The status and the lock of a file are not announced.
package typealias FileHook = @Sendable (FileCall) -> FileFault?
