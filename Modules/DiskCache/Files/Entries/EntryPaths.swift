import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The paths of a cache's entries and of its directory of temporary files. The entries are in 256 directories. The name
/// of each directory is the first two digits of its entries' names.
struct EntryPaths: Sendable {
    /// The path extensions of image formats, with their dots. An ``EntryName`` contains the position of one of them,
    /// which has six bits in an ``IndexRecord``. A change of the list makes every index incomplete.
    private static let imageSuffixes = [
        ".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".jpeg", ".jpg", ".jxl", ".png", ".svg", ".tif", ".tiff",
        ".webp",
    ].map { Array($0.utf8) }

    let directory: String
    /// The path extension of the entries' files with its dot, or empty for none. With ``keepsPathExtensions``, other
    /// files have the extensions of their resources.
    let suffix: String
    /// Whether the file of a resource whose name ends with the path extension of an image format has that extension.
    let keepsPathExtensions: Bool

    /// A closure that may let operations on the files fail. The default is nil.
    var hook: FileHook?

    private let prefixBytes: [UInt8]
    let suffixBytes: [UInt8]

    /// Creates the paths below a directory. Returns nil if `directory` is not a file URL with a usable path.
    ///
    /// - Parameters:
    ///   - directory: The cache's directory.
    ///   - pathExtension: The path extension of the entries' files: 1 to 16 ASCII letters and digits. Any other value
    ///     counts as none.
    ///   - keepsPathExtensions: Whether files have the path extensions of their resources. The default is false.
    init?(_ directory: URL, pathExtension: String?, keepsPathExtensions: Bool = false) {
        let path = directory.path(percentEncoded: false)
        guard directory.isFileURL, !path.isEmpty, !path.utf8.contains(0) else { return nil }
        // Only the path is kept. An open directory would still be the old one after a new directory has taken the path.
        self.directory = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let isUsable =
            pathExtension.map { text in
                (1...16).contains(text.utf8.count)
                    && text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || 0x30...0x39 ~= $0 }
            } ?? false
        suffix = isUsable ? "." + (pathExtension ?? "") : ""
        self.keepsPathExtensions = keepsPathExtensions
        prefixBytes = Array((self.directory + "/").utf8)
        suffixBytes = Array(suffix.utf8)
    }

    var unfinished: String { directory + "/unfinished" }

    /// The rule by which the files have their path extensions. An index is valid only for one rule.
    var suffixRule: String {
        guard keepsPathExtensions else { return suffix }
        return suffix + "/" + Self.imageSuffixes.map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// Returns the name of a key's entry.
    func name(of key: ImageKey) -> EntryName {
        EntryName(key, suffixNumber: suffixNumber(ofResource: key.resource.description.utf8))
    }

    /// Returns the number of the path extension of a resource's file: that of an image format if the URL ends with one,
    /// in upper or lower case, before its query. Zero for the extension of the cache.
    func suffixNumber(ofResource name: some BidirectionalCollection<UInt8>) -> UInt8 {
        guard keepsPathExtensions else { return 0 }
        // A digest of credentials or of a request's fields follows a space.
        let end = name.prefix { !"?# ".utf8.contains($0) }.suffix(5)
        guard let dot = end.lastIndex(of: UInt8(ascii: ".")) else { return 0 }
        return Self.number(of: end[dot...].map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }) ?? 0
    }

    /// Returns a listed name with the number of its file's path extension, or nil if a file of this cache cannot have
    /// the extension.
    func name(_ name: EntryName, listedWith suffix: some Collection<UInt8>) -> EntryName? {
        var name = name
        if keepsPathExtensions, let number = Self.number(of: suffix) {
            name.suffixNumber = number
        } else if !suffix.elementsEqual(suffixBytes) {
            return nil
        }
        return name
    }

    /// Returns a name with each path extension that its file may have.
    func possibleNames(of name: EntryName) -> [EntryName] {
        (0...(keepsPathExtensions ? Self.imageSuffixes.count : 0)).map { number in
            var name = name
            name.suffixNumber = UInt8(number)
            return name
        }
    }

    private static func number(of suffix: some Collection<UInt8>) -> UInt8? {
        imageSuffixes.firstIndex { $0.elementsEqual(suffix) }.map { UInt8($0 + 1) }
    }

    /// Returns the path extension of an entry's file, with its dot.
    func suffix(of name: EntryName) -> [UInt8] {
        let position = Int(name.suffixNumber) - 1
        guard keepsPathExtensions, Self.imageSuffixes.indices.contains(position) else { return suffixBytes }
        return Self.imageSuffixes[position]
    }

    /// Returns the path of an entry's directory, relative to the cache's directory.
    func shard(of name: EntryName) -> String { String(decoding: [name.digit(0), name.digit(1)], as: UTF8.self) }

    func file(_ name: EntryName) -> String {
        withFile(name, behind: prefixBytes, suffix(of: name)) { String(cString: $0) }
    }

    /// Calls `body` with the path of an entry's file, relative to the cache's directory.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - suffix: The path extension with its dot. The default is that of the name.
    ///   - body: A closure that uses the path. It must not keep the pointer.
    func withFile<Result: ~Copyable>(
        _ name: EntryName, _ suffix: [UInt8]? = nil, _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        withFile(name, behind: [], suffix ?? self.suffix(of: name), body)
    }

    /// Calls `body` with the name of an entry's file in the entry's directory.
    func withFileName<Result: ~Copyable>(
        _ name: EntryName, _ suffix: [UInt8]? = nil, _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        withFile(name, suffix) { body($0 + 3) }
    }

    private func withFile<Result: ~Copyable>(
        _ name: EntryName, behind prefixBytes: [UInt8], _ suffixBytes: [UInt8],
        _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        let count = prefixBytes.count + 65 + suffixBytes.count + 1
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { path in
            _ = path.initialize(fromContentsOf: prefixBytes)
            var end = prefixBytes.count
            name.writeDigits(
                to: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(path)[(end + 1)...]))
            // The slash follows the first two digits, which are therefore one byte closer to the start.
            path[end] = path[end + 1]
            path[end + 1] = path[end + 2]
            path[end + 2] = UInt8(ascii: "/")
            end += 65
            for byte in suffixBytes {
                path.initializeElement(at: end, to: byte)
                end += 1
            }
            path.initializeElement(at: end, to: 0)
            return UnsafeRawBufferPointer(path).withMemoryRebound(to: CChar.self) { chars in
                // The buffer is never empty.
                body(chars.baseAddress.unsafelyUnwrapped)
            }
        }
    }
}

/// The name of an entry: the SHA-256 of its key, in four words. The first two of its 64 digits name the entry's
/// directory. The other digits, with the path extension, name the entry's file.
struct EntryName: Hashable, Sendable {
    private(set) var words: SIMD4<UInt64>
    /// The number of the path extension of the entry's file; zero for that of the cache. ``EntryPaths`` defines the
    /// numbers. Names are equal whatever their extensions.
    var suffixNumber: UInt8 = 0

    init(words: SIMD4<UInt64>, suffixNumber: UInt8 = 0) {
        self.words = words
        self.suffixNumber = suffixNumber
    }

    init(_ key: ImageKey, suffixNumber: UInt8 = 0) {
        self.suffixNumber = suffixNumber
        let digest = key.digestWords
        words = SIMD4()
        for index in 0..<4 { words[index] = UInt64(digest[2 * index]) << 32 | UInt64(digest[2 * index + 1]) }
    }

    /// Parses a name. A name is exactly 64 lowercase hexadecimal digits. For anything else, returns nil.
    init?(digits: some Sequence<UInt8>) {
        words = SIMD4()
        var count = 0
        for digit in digits {
            guard count < 64, let value = Self.value(digit) else { return nil }
            words[count / 16] = words[count / 16] << 4 | UInt64(value)
            count += 1
        }
        guard count == 64 else { return nil }
    }

    static func isHexadecimal(_ digits: some Sequence<UInt8>) -> Bool { digits.allSatisfy { value($0) != nil } }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    static func == (a: EntryName, b: EntryName) -> Bool { a.words == b.words }

    /// The first word of the digest, which serves as a hash.
    var hash: UInt64 { words[0] }

    // The digest is distributed evenly, so one of its words is enough.
    func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }

    /// Returns the ASCII code of the hexadecimal digit at a position from 0 to 63.
    func digit(_ index: Int) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: words[index / 16] >> UInt64(60 - 4 * (index % 16))) & 15
        return value < 10 ? 0x30 + value : 0x61 - 10 + value
    }

    /// Writes the 64 digits to the start of `memory`.
    func writeDigits(to memory: UnsafeMutableRawBufferPointer) {
        for index in 0..<4 {
            let word = words[index]
            memory.storeBytes(
                of: Self.digits(UInt32(truncatingIfNeeded: word >> 32)), toByteOffset: 16 * index, as: UInt64.self)
            memory.storeBytes(
                of: Self.digits(UInt32(truncatingIfNeeded: word)), toByteOffset: 16 * index + 8, as: UInt64.self)
        }
    }

    /// Returns the ASCII codes of the eight hexadecimal digits of a number, in the order of a little-endian number. All
    /// digits are computed at once, because a path is made for each read.
    private static func digits(_ number: UInt32) -> UInt64 {
        var bytes = UInt64(number.byteSwapped)
        bytes = (bytes | bytes << 16) & 0x0000_FFFF_0000_FFFF
        bytes = (bytes | bytes << 8) & 0x00FF_00FF_00FF_00FF
        let values = bytes >> 4 & 0x000F_000F_000F_000F | (bytes & 0x000F_000F_000F_000F) << 8
        // Adding 6 to a value of 10 or more carries into the upper half of its byte.
        let letters = (values + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (values + 0x3030_3030_3030_3030 + letters * 0x27).littleEndian
    }

    /// The name as text, which is the ``/AlcedoCore/ImageKey/fileName`` of the key.
    var text: String { String(decoding: (0..<64).map(digit), as: UTF8.self) }
}
