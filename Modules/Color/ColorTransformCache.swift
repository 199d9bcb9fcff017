import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The most recently used conversions, and the errors of unusable profiles.
///
/// Entries are found by the digest of their profile. Profiles with equal digests are compared byte by byte, because an
/// attacker can make digests collide.
final class ColorTransformCache: Sendable {
    private struct Entry: Sendable {
        let key: Key
        let profile: Data?
        let result: Result<ColorTransform, ColorConversionError>
    }

    private struct Key: Hashable, Sendable {
        let digest: UInt64
        let byteCount: Int
        let space: OutputColorSpace
        let depth: Int
        let compensatesBlackPoint: Bool

        init(_ key: ColorTransform.Key) {
            digest = key.profile.map { XXH64.hash($0.bytes) } ?? 0
            byteCount = key.profile?.count ?? -1
            space = key.space
            depth = key.depth
            compensatesBlackPoint = key.compensatesBlackPoint
        }
    }

    /// The cache of the process.
    static let shared = ColorTransformCache(entryLimit: 32, byteLimit: 8 << 20)

    private let entryLimit: Int
    private let byteLimit: Int
    /// The entries, the least recently used first. A linear search of so few is fast compared with the digest.
    private let entries = Locked([Entry]())

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - entryLimit: The maximum number of entries.
    ///   - byteLimit: The maximum number of bytes of all profiles. A larger profile is not kept.
    init(entryLimit: Int, byteLimit: Int) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
    }

    var count: Int { entries.withLock { $0.count } }

    /// Returns the conversion, and creates it if necessary. Throws the error of an unusable profile.
    ///
    /// Threads that need the same new conversion at the same time may each create it.
    func transform(_ parameters: ColorTransform.Key) throws(ColorConversionError) -> ColorTransform {
        let key = Key(parameters)
        if let entry = entry(key, parameters.profile) { return try entry.result.get() }
        let result: Result<ColorTransform, ColorConversionError>
        do throws(ColorConversionError) {
            result = .success(try ColorTransform(parameters))
        } catch {
            // The memory may be available later.
            guard error.code != .outOfMemory else { throw error }
            result = .failure(error)
        }
        // A slice of a file would keep the whole file.
        keep(Entry(key: key, profile: parameters.profile.map { Data([UInt8]($0)) }, result: result))
        return try result.get()
    }

    private func entry(_ key: Key, _ profile: Data?) -> Entry? {
        let found = entries.withLock { entries -> Entry? in
            guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
            guard index < entries.count - 1 else { return entries[index] }
            entries.append(entries.remove(at: index))
            return entries.last
        }
        // Compared outside the lock, because a profile of inks has a megabyte.
        guard let found, found.profile == profile else { return nil }
        return found
    }

    private func keep(_ entry: Entry) {
        guard max(0, entry.key.byteCount) <= byteLimit else { return }
        entries.withLock { entries in
            entries.removeAll { $0.key == entry.key }
            entries.append(entry)
            var bytes = entries.reduce(0) { $0 + ($1.profile?.count ?? 0) }
            while entries.count > entryLimit || bytes > byteLimit {
                bytes -= entries.removeFirst().profile?.count ?? 0
            }
        }
    }
}
