import AlcedoLibc
import AlcedoRuntime

/// A reader of the kernel's small files, below a directory that stands for `/`.
struct SystemFiles: Sendable {
    /// The maximum number of bytes read from a file. Of a longer file, only the complete lines within this limit are
    /// returned.
    static let byteLimit = 64 << 10

    private let root: String

    /// Creates a reader.
    ///
    /// - Parameter root: The absolute path of the directory that stands for `/`. Default: `/`.
    init(root: String = "/") {
        self.root = root.utf8.last == UInt8(ascii: "/") ? String(root.dropLast()) : root
    }

    /// Returns the bytes of a file, whose path begins with a slash; nil if the file does not exist or cannot be read.
    /// Never waits.
    func contents(_ path: String) -> [UInt8]? {
        guard let file = try? Descriptor(opening: root + path, O_RDONLY | O_NONBLOCK | O_NOCTTY) else { return nil }
        var length: Int?
        var bytes = [UInt8](unsafeUninitializedCapacity: Self.byteLimit) { memory, count in
            length = try? file.read(into: UnsafeMutableRawBufferPointer(memory), at: 0)
            count = length ?? 0
        }
        guard length != nil else { return nil }
        // A truncated number would be a wrong one.
        if length == Self.byteLimit { bytes.removeSubrange(((bytes.lastIndex(of: 0x0A) ?? -1) + 1)...) }
        return bytes
    }
}

/// A parser of the kernel's text files.
///
/// The functions do not trap and do not guess. A missing key, or text that is not a number within the range of `Int`,
/// gives nil. Formats: admin-guide/cgroup-v2.rst, "Interface Files"; filesystems/proc.rst, "meminfo".
enum KernelText {
    /// The smallest limit that counts as no limit. cgroup v1 represents "no limit" by the largest multiple of the page
    /// size.
    private static let unlimited = 1 << 62

    /// Returns the number in a file that contains one value; nil if the value is not a number, such as `max`.
    static func number(_ text: [UInt8]) -> Int? {
        let words = words(of: text[...])
        return words.count == 1 ? decimal(words[0]) : nil
    }

    /// Returns the limit in a file that contains one value, in bytes; nil if there is no limit.
    static func limit(_ text: [UInt8]) -> Int? { limit(number(text)) }

    /// Returns a limit, or nil if the number stands for no limit.
    static func limit(_ number: Int?) -> Int? { number.flatMap { $0 >= unlimited ? nil : $0 } }

    /// Returns a number from the first line that has a key and a value.
    ///
    /// - Parameters:
    ///   - field: The name of a field, such as `total` in `total=12`. Default: nil, for a value without a name.
    ///   - key: The first word of the line, including a colon if it has one.
    ///   - text: The text of the file.
    static func number(of field: String? = nil, after key: String, in text: [UInt8]) -> Int? {
        let start = field.map { Array("\($0)=".utf8) } ?? []
        let line = lines(of: text).map(words).first { $0.count > 1 && $0[0].elementsEqual(key.utf8) }
        let value = line?.dropFirst().first { $0.starts(with: start) }
        return value.flatMap { decimal($0.dropFirst(start.count)) }
    }

    /// Returns the number of bytes after `key` in a text in the format of /proc/meminfo, whose values are in kibibytes.
    static func byteCount(after key: String, in text: [UInt8]) -> Int? {
        guard let kibibytes = number(after: key, in: text) else { return nil }
        let (bytes, overflows) = kibibytes.multipliedReportingOverflow(by: 1024)
        return overflows ? nil : bytes
    }

    static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] { text.split(separator: 0x0A) }

    static func words(of line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A }
    }

    /// Parses an unsigned decimal number. Returns nil for other characters, an empty text, or an overflow.
    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
        // `Int` also accepts a sign.
        digits.allSatisfy { (0x30...0x39).contains($0) } ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }
}
