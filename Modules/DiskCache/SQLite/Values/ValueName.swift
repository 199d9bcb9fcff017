import AlcedoCore

/// Names the file of a large value.
///
/// No two values ever have the same, not even of one entry: who has read the row of an entry finds the value that
/// belongs to it, or none.
struct ValueName: Hashable, Sendable {
    /// Of the entry.
    let entry: String
    /// Tells the values of an entry apart.
    let token: Int64

    /// nil when `entry` is not the name of an entry: what a damaged row has must not lead out of the folder.
    init?(entry: String, token: Int64) {
        let digits = entry.utf8
        guard digits.count == 64, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
            return nil
        }
        self.entry = entry
        self.token = token
    }

    /// A name that nobody else has.
    init(newFor key: ImageKey) {
        entry = key.fileName
        token = Int64.random(in: .min ... .max)
    }

    /// nil when the text is not the file name of a value.
    init?(fileName: String) {
        let parts = fileName.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = UInt64(parts[1], radix: 16) else { return nil }
        self.init(entry: String(parts[0]), token: Int64(bitPattern: bits))
        guard self.fileName == fileName else { return nil }
    }

    var shard: Substring { entry.prefix(2) }

    var fileName: String { "\(entry)-\(String(UInt64(bitPattern: token), radix: 16))" }
}
