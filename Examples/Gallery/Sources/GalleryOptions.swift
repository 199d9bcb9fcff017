#if GTK
    /// An error of the command line.
    struct UsageError: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// The options of the command line.
    struct GalleryOptions {
        static let help = """
            usage: gallery [DIRECTORY | FILE... | URL... | -] [options]

            Shows pictures in a scrolling grid: those below a directory, those that are named, those that the lines of
            standard input name (-), as they come and 50,000 at most, or, without arguments, 5,000 drawn landscapes from a
            server of its own.

              --count N         how many landscapes
              --delay MS        how long each answer of the network takes longer, 0 to 5000
              --failures N      how many per cent of the landscapes are not to be had
              --memory N        most MiB of decoded pictures in memory (default: 128)
              --cell N          width of a cell in points, 80 to 480 (default: 176)
              --no-cache        keeps nothing on disk
              --self-test       takes commands from standard input, for Scripts/test-gtk

            Keys: arrows, Home, End, Page Up and Down move; Enter shows the details, Escape closes them; / searches;
            + and - change the size; R loads again what failed; Q ends.

            """

        var names: [String] = []
        var count = 5_000
        var delay = 0
        var failures = 0
        var memoryLimit = 128 << 20
        var cellWidth = 176
        var usesDisk = true
        var isSelfTest = false

        /// Parses the words of a command line.
        ///
        /// - Returns: nil if the user only requests help.
        /// - Throws: A ``UsageError``.
        init?(_ words: some Sequence<String>) throws {
            var words = Array(words)[...]
            while let word = words.popFirst() {
                switch word {
                case "--count": count = try Self.number(of: word, in: 1...50_000, from: &words)
                case "--delay": delay = try Self.number(of: word, in: 0...5_000, from: &words)
                case "--failures": failures = try Self.number(of: word, in: 0...100, from: &words)
                case "--memory": memoryLimit = try Self.number(of: word, in: 1...65_536, from: &words) << 20
                case "--cell": cellWidth = try Self.number(of: word, in: 80...480, from: &words)
                case "--no-cache": usesDisk = false
                case "--self-test": isSelfTest = true
                case "--help", "-h": return nil
                case "-": names.append(word)
                case _ where word.hasPrefix("-"): throw UsageError("there is no option '\(word)'")
                default: names.append(word)
                }
            }
            if isSelfTest, names == ["-"] {
                throw UsageError("--self-test takes commands from standard input, which then can name no pictures")
            }
        }

        private static func number(
            of option: String, in range: ClosedRange<Int>, from words: inout ArraySlice<String>
        ) throws -> Int {
            guard let text = words.popFirst(), let number = Int(text), range.contains(number) else {
                throw UsageError("\(option) needs an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
#endif
