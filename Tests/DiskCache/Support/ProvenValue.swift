import AlcedoCore
import FoundationEssentials
import TestSupport

/// An entry that contains its own name, so that a reader can verify it.
struct ProvenValue: Equatable {
    let name: String
    let version: Int

    var entry: CachedData {
        CachedData(bytes(version * 7919 % 20_000, seed: version &* 31), metadata: Data("\(name) \(version)".utf8))
    }

    init(name: String, version: Int) {
        self.name = name
        self.version = version
    }

    /// Creates nil if no entry with this content was stored under the name.
    init?(_ entry: CachedData, name: String) {
        let words = String(decoding: entry.metadata, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == name, let version = Int(words[1]) else { return nil }
        self.init(name: name, version: version)
        guard self.entry == entry else { return nil }
    }
}
