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

            Shows images in a scrolling grid: those below a directory, the named ones, or those that standard input
            lists with -, one per line, as they arrive and at most 50,000. Without arguments, it shows 5,000 generated
            landscapes from a server of its own.

              --count N         show N landscapes, from 1 to 50000 (default: 5000)
              --delay MS        delay each network response by MS milliseconds, from 0 to 5000 (default: 0)
              --failures N      let N percent of the landscapes fail, from 0 to 100 (default: 0)
              --memory N        keep at most N MiB of decoded images in memory (default: 128)
              --cell N          make cells N points wide, from 80 to 480 (default: 176)
              --no-cache        store nothing on disk
              --self-test       read commands from standard input, for Scripts/test-gtk

            Keys: arrows, Home, End, Page Up and Page Down move; Enter shows the details, Escape hides them; / searches;
            + and - change the cell size; R reloads failed images; Q quits.

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
                case _ where word.hasPrefix("-"): throw UsageError("unknown option '\(word)'")
                default: names.append(word)
                }
            }
            if isSelfTest, names == ["-"] {
                throw UsageError("--self-test reads commands from standard input and cannot be combined with -")
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
