import AlcedoCore
import FoundationEssentials

/// How entries are named on the server.
struct RedisNames: Sendable {
    /// Of all file names, which are hexadecimal digits.
    private static let fileNameCount = 64
    private static let digits = Set("0123456789abcdef".utf8)

    let prefix: String

    func entry(_ key: ImageKey) -> Data { entry(named: key.fileName) }

    func entry(named name: String) -> Data { Data("\(prefix)\(Self.entryKind)\(name)".utf8) }

    /// The names of a resource's entries, sorted by when each is over.
    func variants(of resource: ResourceKey) -> Data {
        Data("\(prefix)\(Self.recordKind)\(ImageKey(resource).fileName)".utf8)
    }

    /// The kind of the names of entries.
    static let entryKind = "e:"
    /// The kind of the names of sets of records, which say what entries a resource has.
    static let recordKind = "v:"

    /// A pattern that matches all names of a kind, and no longer ones: this prefix and kind may begin another cache's.
    func pattern(_ kind: String) -> Data {
        var pattern = Data()
        for byte in "\(prefix)\(kind)".utf8 {
            if "*?[]\\^-".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
            pattern.append(byte)
        }
        return pattern + Data(repeating: UInt8(ascii: "?"), count: Self.fileNameCount)
    }

    /// Whether `name` is one of a kind, whatever the server thinks that a pattern matches.
    func has(_ name: Data, of kind: String) -> Bool {
        let head = Data("\(prefix)\(kind)".utf8)
        return name.starts(with: head) && Self.isFileName(name.dropFirst(head.count))
    }

    /// Whether the bytes have the form of an entry's file name.
    static func isFileName(_ bytes: Data) -> Bool {
        bytes.count == fileNameCount && bytes.allSatisfy { digits.contains($0) }
    }
}
