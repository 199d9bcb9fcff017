import AlcedoLibc

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

    /// Returns the path under which the system knows a file.
    ///
    /// - Parameter path: A path that begins with a slash.
    func path(_ path: String) -> String { root + path }

    /// Returns the bytes of a file; nil if the file does not exist or cannot be read.
    ///
    /// Never waits: a FIFO without a writer counts as empty. O(length of the file), at most ``byteLimit``.
    func contents(_ path: String) -> [UInt8]? {
        let file = open(self.path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var hasFailed = false
        let limit = Self.byteLimit
        var bytes = [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
            while count < limit {
                let step = read(file, memory.baseAddress.map { $0 + count }, limit - count)
                if step < 0, errno == EINTR { continue }
                hasFailed = step < 0
                guard step > 0 else { return }
                count += step
            }
        }
        guard !hasFailed else { return nil }
        // A truncated number would be a wrong one.
        if bytes.count == limit { bytes.removeSubrange(((bytes.lastIndex(of: 0x0A) ?? -1) + 1)...) }
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

    /// Returns the number after `key` in a file with one key and value per line. The first line with the key counts.
    ///
    /// - Parameters:
    ///   - key: The key as it appears in the file, including a colon if it has one.
    ///   - text: The text of the file.
    static func number(after key: String, in text: [UInt8]) -> Int? {
        for line in lines(of: text) {
            let words = words(of: line)
            if words.count >= 2, words[0].elementsEqual(key.utf8) { return decimal(words[1]) }
        }
        return nil
    }

    /// Returns the number of a field, such as `field=12`, in the first line that begins with `key`.
    static func number(of field: String, after key: String, in text: [UInt8]) -> Int? {
        let start = Array("\(field)=".utf8)
        for line in lines(of: text) {
            let words = words(of: line)
            guard words.first?.elementsEqual(key.utf8) == true else { continue }
            return words.first { $0.starts(with: start) }.flatMap { decimal($0.dropFirst(start.count)) }
        }
        return nil
    }

    /// Returns the limit after `key`, in bytes; nil if there is no limit.
    static func limit(after key: String, in text: [UInt8]) -> Int? { limit(number(after: key, in: text)) }

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

    private static func limit(_ number: Int?) -> Int? { number.flatMap { $0 >= unlimited ? nil : $0 } }

    /// Parses an unsigned decimal number. Returns nil for other characters, an empty text, or an overflow.
    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard digit >= 0x30, digit <= 0x39 else { return nil }
            let (tens, overflowsTens) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(Int(digit - 0x30))
            guard !overflowsTens, !overflows else { return nil }
            value = sum
        }
        return digits.isEmpty ? nil : value
    }
}
