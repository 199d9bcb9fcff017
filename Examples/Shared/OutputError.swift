import AlcedoLibc
import FoundationEssentials

/// A file that could not be written.
public struct OutputError: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }

    /// - Parameter number: `errno`.
    init(path: String, number: Int32) {
        self.init(description: "cannot write \(path): \(String(cString: strerror(number)))")
    }
}

extension Error {
    /// The reason in a few words, where the file functions of Foundation would print a whole dictionary.
    var localizedReason: String {
        switch (self as? CocoaError)?.code {
        case .fileWriteNoPermission: "permission denied"
        case .fileWriteOutOfSpace: "no space left on device"
        case .fileWriteVolumeReadOnly: "read-only file system"
        case .fileWriteFileExists, .fileNoSuchFile: "not a directory that can be made"
        default: systemReason ?? "\(self)"
        }
    }

    /// What the system says of the cause, where it is one of its own.
    private var systemReason: String? {
        guard let cause = (self as? CocoaError)?.underlying as? POSIXError else { return nil }
        return String(cString: strerror(cause.code.rawValue))
    }
}
