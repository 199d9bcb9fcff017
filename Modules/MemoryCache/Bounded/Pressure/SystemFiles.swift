import AlcedoLibc

/// Reads the small files in which the kernel tells its figures, below a folder that stands for `/`.
struct SystemFiles: Sendable {
    /// Most bytes that are read of a file. A longer one is cut after its last whole line.
    static let byteLimit = 64 << 10

    private let root: String

    /// - Parameter root: Absolute path of the folder that stands for `/`.
    init(root: String = "/") {
        self.root = root.utf8.last == UInt8(ascii: "/") ? String(root.dropLast()) : root
    }

    /// The path under which the system knows a file.
    ///
    /// - Parameter path: Begins with a slash.
    func path(_ path: String) -> String { root + path }

    /// The bytes of a file, or nil when there is none or the system refuses.
    ///
    /// Never waits: a FIFO without a writer is empty. O(length of the file), at most ``byteLimit``.
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
        // Half a number is a wrong number.
        if bytes.count == limit { bytes.removeSubrange(((bytes.lastIndex(of: 0x0A) ?? -1) + 1)...) }
        return bytes
    }
}

/// Understands the plain texts in which the kernel tells numbers.
///
/// Nothing traps and nothing is guessed: what is not a number that fits is nil. Formats: admin-guide/cgroup-v2.rst,
/// "Interface Files"; filesystems/proc.rst, "meminfo".
enum KernelText {
    /// A limit this large is none: cgroup v1 tells "no limit" as the largest multiple of a page.
    private static let unlimited = 1 << 62

    /// The number of a file of one value. nil for `max`.
    static func number(_ text: [UInt8]) -> Int? {
        let words = words(of: text[...])
        return words.count == 1 ? decimal(words[0]) : nil
    }

    /// The limit of a file of one value, in bytes; nil when there is none.
    static func limit(_ text: [UInt8]) -> Int? { limit(number(text)) }

    /// The number after `key` in a file with a key and a value a line; the first such line counts.
    ///
    /// - Parameter key: As it stands in the file, with its colon if it has one.
    static func number(after key: String, in text: [UInt8]) -> Int? {
        for line in lines(of: text) {
            let words = words(of: line)
            if words.count >= 2, words[0].elementsEqual(key.utf8) { return decimal(words[1]) }
        }
        return nil
    }

    /// The number of a field, as in `field=12`, in the first line that begins with `key`.
    static func number(of field: String, after key: String, in text: [UInt8]) -> Int? {
        let start = Array("\(field)=".utf8)
        for line in lines(of: text) {
            let words = words(of: line)
            guard words.first?.elementsEqual(key.utf8) == true else { continue }
            return words.first { $0.starts(with: start) }.flatMap { decimal($0.dropFirst(start.count)) }
        }
        return nil
    }

    /// The limit after `key`, in bytes; nil when there is none.
    static func limit(after key: String, in text: [UInt8]) -> Int? { limit(number(after: key, in: text)) }

    /// The bytes after `key` in a text of the form of /proc/meminfo, whose values are in kibibytes.
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

    /// Digits only: no sign, and no more than fits.
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
