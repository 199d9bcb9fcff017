/// Malformed contents for a file that should contain a number.
enum MalformedText {
    static let numbers: [[UInt8]] =
        [
            "", "\n", " \n\n", "max", "max\n", "-1\n", "+1\n", "0x10\n", "1.5\n", "1 2\n", "1\n2\n", "12kB\n", "１２\n",
            "99999999999999999999999999\n", "9223372036854775808\n", "18446744073709551615\n",
        ].map { Array($0.utf8) } + [[0], [0xFF, 0xFE], [0x31, 0x80], [0x31, 0]]

    /// Texts that may confuse a parser of lines and words.
    static let lines: [[UInt8]] =
        numbers
        + [
            ":", "::", ":::", "0:", "0::", "0:::", "0::relative\n", "memory", "4:memory\n", "0::/..\n", "0::/a/../b\n",
            "- - - - - - - - - -\n", "1 2 3 / / rw -\n", "1 2 3 / / rw - cgroup2\n", "1 2 3 / /\\0 rw - cgroup2 a b\n",
            "1 2 3 / rel rw - cgroup2 a b\n", "1 2 3 \\777 /\\777 rw - cgroup2 a b\n", "MemTotal:", "MemTotal: \n",
            "MemTotal: x kB\n", "high", "high ", "high x\n", "high -1\n",
            "high total=\n", "high total=-1\n", "high total=1.5\n", "high total==1\n", "some\nfull\n",
            "some total=1\n", "full total=1\n", "some total=1\nfull total=9223372036854775808\n",
        ].map { Array($0.utf8) } + [[UInt8](repeating: 0x20, count: 5000), [UInt8](repeating: 0x2F, count: 5000)]
}
