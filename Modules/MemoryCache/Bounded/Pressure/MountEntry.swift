/// A line of /proc/self/mountinfo, as far as control groups need it.
///
/// Source: filesystems/proc.rst, "/proc/<pid>/mountinfo"; proc_pid_mountinfo(5).
struct MountEntry: Equatable {
    /// The folder of the file system that is mounted, by its components.
    var root: [[UInt8]]
    /// Where it is mounted, without a slash at the end.
    var point: [UInt8]
    var fileSystem: [UInt8]
    /// The options of the file system; for cgroup v1 they name its controllers.
    var options: [[UInt8]]

    /// nil when the line is not of that form.
    init?(_ line: ArraySlice<UInt8>) {
        let words = KernelText.words(of: line)
        // Any number of optional fields stand before the dash.
        guard words.count >= 10, let dash = words[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            words.count >= dash + 4, words[4].first == UInt8(ascii: "/")
        else { return nil }
        root = Self.components(Self.unescaped(words[3])[...])
        point = Self.unescaped(words[4])
        if point.last == UInt8(ascii: "/") { point.removeLast() }
        fileSystem = Array(words[dash + 1])
        options = words[dash + 3].split(separator: UInt8(ascii: ",")).map(Array.init)
    }

    static func components(_ path: ArraySlice<UInt8>) -> [[UInt8]] {
        path.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    /// Undoes the octal escapes of spaces, tabs, line ends and backslashes.
    private static func unescaped(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = word
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x37 }) {
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }))
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
