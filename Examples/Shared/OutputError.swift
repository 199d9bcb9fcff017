import FoundationEssentials

/// A file that could not be written.
struct OutputError: Error, CustomStringConvertible {
    var description: String
}

extension Error {
    /// The reason in a few words, where the file functions of Foundation would print a whole dictionary.
    var localizedReason: String {
        switch (self as? CocoaError)?.code {
        case .fileWriteNoPermission: "permission denied"
        case .fileWriteOutOfSpace: "no space left on device"
        case .fileWriteVolumeReadOnly: "read-only file system"
        case .fileWriteFileExists, .fileNoSuchFile: "not a directory that can be made"
        default: "\(self)"
        }
    }
}
