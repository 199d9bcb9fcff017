/// The bytes that files of a format begin with.
public struct FormatSignature: Sendable, Hashable {
    /// nil where any byte will do.
    package var bytes: [UInt8?]

    /// The bytes from the file's first on; nil stands for any byte.
    public init(_ bytes: [UInt8?]) { self.bytes = bytes }

    /// How the beginning of a file compares.
    enum Match {
        case whole
        /// As far as the bytes reach.
        case beginning
        case none
    }

    func match(_ prefix: RawSpan) -> Match {
        for (index, byte) in bytes.enumerated() {
            guard index < prefix.byteCount else { return .beginning }
            if let byte, prefix.unsafeLoad(fromByteOffset: index, as: UInt8.self) != byte { return .none }
        }
        return .whole
    }
}
