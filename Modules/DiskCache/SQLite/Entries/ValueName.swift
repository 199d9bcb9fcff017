import AlcedoCore

/// The name of a large value's file.
///
/// All names are different, even those of one entry's successive values. So a process that has read an entry's row
/// finds either the value of exactly that row, or no value.
struct ValueName: Hashable, Sendable {
    /// The name of the entry.
    let entry: String
    /// A random number that distinguishes the values of an entry.
    let token: Int64

    /// Creates a name. Returns nil if `entry` is not a valid entry name: the text in a damaged row must not lead out of
    /// the directory.
    init?(entry: String, token: Int64) {
        let digits = entry.utf8
        guard digits.count == 64, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
            return nil
        }
        self.entry = entry
        self.token = token
    }

    /// Creates a new, unique name.
    init(newFor key: ImageKey) {
        entry = key.fileName
        token = Int64.random(in: .min ... .max)
    }

    /// Parses a file name. Returns nil if it is not the file name of a value.
    init?(fileName: String) {
        let parts = fileName.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = UInt64(parts[1], radix: 16) else { return nil }
        self.init(entry: String(parts[0]), token: Int64(bitPattern: bits))
        guard self.fileName == fileName else { return nil }
    }

    var shard: Substring { entry.prefix(2) }

    var fileName: String { "\(entry)-\(String(UInt64(bitPattern: token), radix: 16))" }
}
