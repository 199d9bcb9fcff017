#if GTK
    import FoundationEssentials
    import TestSupport
    import Testing

    @testable import gallery

    @Suite struct FolderSourceTests {
        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        private func make(_ name: String) throws { try Data([1]).write(to: folder.url.appending(path: name)) }

        private func makeFolder(_ name: String) throws {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }

        private func link(_ name: String, to destination: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: folder.url.appending(path: name).path, withDestinationPath: destination)
        }

        private var names: [String] {
            get throws {
                try FolderSource(path: folder.url.path).files.map { String($0.dropFirst(folder.url.path.count + 1)) }
            }
        }

        @Test func `pictures are found in folders, also in one with a picture's name`() throws {
            try makeFolder("deep/er.png")
            for name in ["b.PNG", "a.jpeg", "notes.txt", ".hidden.png", "deep/er.png/c.gif"] { try make(name) }

            #expect(try names == ["a.jpeg", "b.PNG", "deep/er.png/c.gif"])
        }

        @Test func `links that lead round show no picture twice`() throws {
            try makeFolder("inner")
            try make("inner/a.png")
            try link("inner/round", to: "..")
            try link("inner/here", to: ".")
            try link("lost.png", to: "nowhere.png")

            #expect(try names == ["inner/a.png"])
        }

        @Test func `an empty folder has none`() throws { #expect(try names == []) }
    }
#endif
