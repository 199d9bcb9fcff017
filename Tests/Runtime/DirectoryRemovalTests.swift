import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DirectoryRemovalTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var tree: String { directory.path + "/tree" }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Creates nested directories, deeper than a path can express, each with a file and a link out of the tree.
    private func nest(depth: Int, branches: Int = 1) throws {
        for branch in 0..<branches {
            try #require(mkdir(tree, 0o700) == 0 || errno == EEXIST)
            var current = open(tree, O_RDONLY | O_DIRECTORY)
            defer { close(current) }
            for _ in 0..<depth {
                try #require(mkdirat(current, "branch \(branch)", 0o700) == 0)
                close(openat(current, "file \(branch)", O_WRONLY | O_CREAT, 0o600))
                try #require(symlinkat(directory.path + "/precious", current, "link \(branch)") == 0)
                let inner = openat(current, "branch \(branch)", O_RDONLY | O_DIRECTORY)
                try #require(inner >= 0)
                close(current)
                current = inner
            }
        }
    }

    @Test(arguments: [(0, 1), (1, 1), (17, 3), (3_000, 2)])
    func `a directory is removed with its contents, and the targets of links are kept`(depth: Int, branches: Int) throws
    {
        try FileManager.default.createDirectory(
            atPath: directory.path + "/precious", withIntermediateDirectories: false)
        try Data("precious".utf8).write(to: URL(filePath: directory.path + "/precious/letter"))
        try nest(depth: depth, branches: branches)

        #expect(DirectoryRemoval.remove(tree))

        #expect(!exists(tree))
        #expect(FileManager.default.contents(atPath: directory.path + "/precious/letter") == Data("precious".utf8))
    }

    @Test func `existing names do not prevent the removal`() throws {
        for path in ["a/moved-1/x", "a/moved-2/moved-1/y", "moved-1/z", "moved-3"] {
            try FileManager.default.createDirectory(atPath: "\(tree)/\(path)", withIntermediateDirectories: true)
        }
        try Data("file".utf8).write(to: URL(filePath: tree + "/moved-2"))
        #expect(mkdir(tree + "/\u{1}\n", 0o700) == 0)
        let current = open(tree, O_RDONLY | O_DIRECTORY)
        // Not UTF-8.
        #expect(mkdirat(current, [CChar(bitPattern: 0xFF), CChar(bitPattern: 0xFE), 0], 0o700) == 0)
        close(current)

        #expect(DirectoryRemoval.remove(tree))
        #expect(!exists(tree))
    }

    @Test func `a file and a link are removed, and a missing path is ignored`() throws {
        let file = directory.path + "/file"
        try Data("file".utf8).write(to: URL(filePath: file))
        #expect(symlink(directory.path, tree) == 0)

        #expect(DirectoryRemoval.remove(tree))
        #expect(!exists(tree))
        #expect(exists(file))
        #expect(DirectoryRemoval.remove(file))
        #expect(!exists(file))
        #expect(DirectoryRemoval.remove(file))
        #expect(!DirectoryRemoval.remove(directory.path + "/file/below") || !exists(file))
    }
}
