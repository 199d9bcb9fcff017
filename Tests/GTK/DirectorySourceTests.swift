#if GTK
    import FoundationEssentials
    import TestSupport
    import Testing

    @testable import gallery

    @Suite struct DirectorySourceTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        private func make(_ name: String) throws { try Data([1]).write(to: directory.url.appending(path: name)) }

        private func makeDirectory(_ name: String) throws {
            try FileManager.default.createDirectory(
                at: directory.url.appending(path: name), withIntermediateDirectories: true)
        }

        private func link(_ name: String, to destination: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: directory.url.appending(path: name).path, withDestinationPath: destination)
        }

        private var names: [String] {
            get throws {
                try DirectorySource(path: directory.url.path).files.map {
                    String($0.dropFirst(directory.url.path.count + 1))
                }
            }
        }

        @Test func `images are found in directories, also in one with an image's name`() throws {
            try makeDirectory("deep/er.png")
            for name in ["b.PNG", "a.jpeg", "notes.txt", ".hidden.png", "deep/er.png/c.gif"] { try make(name) }

            #expect(try names == ["a.jpeg", "b.PNG", "deep/er.png/c.gif"])
        }

        @Test func `circular links list no image twice`() throws {
            try makeDirectory("inner")
            try make("inner/a.png")
            try link("inner/round", to: "..")
            try link("inner/here", to: ".")
            try link("lost.png", to: "nowhere.png")

            #expect(try names == ["inner/a.png"])
        }

        @Test func `an empty directory has no images`() throws { #expect(try names == []) }
    }
#endif
