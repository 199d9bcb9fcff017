import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials
import TestSupport
import Testing

import AlcedoCore

@Suite(.timeLimit(.minutes(10)))
struct DirectoryListingTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func makeFiles(_ names: some Sequence<String>) {
        for name in names { close(creat("\(directory.path)/\(name)", 0o600)) }
    }

    @Test func `every name is listed once, and nothing else`() {
        let names = (0..<3000).map { "file \($0)" } + ["ä", "...", ".hidden"]
        makeFiles(names)
        #expect(DirectoryListing.names(in: directory.path)?.sorted() == names.sorted())
    }

    @Test func `a path that is not a directory has no names`() {
        makeFiles(["file"])
        #expect(symlink(directory.path, directory.path + "/link") == 0)
        for path in ["file", "file/x", "nothing", "link"] {
            #expect(DirectoryListing.forEachName(in: "\(directory.path)/\(path)") { _ in } == 0)
            #expect(DirectoryListing.names(in: "\(directory.path)/\(path)") == [])
        }
        #expect(DirectoryListing.forEachName(in: directory.path + "/link", followsLink: true) { _ in } == 0)
    }

    /// In its own process, because descriptors of other files are replaced.
    @Test(.spawnsProcesses) func `a directory whose reading fails is an error, not a shorter listing`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            // More than one read returns.
            for number in 0..<4000 { close(creat("\(directory.path)/a name of some length \(number)", 0o600)) }
            var count = 0
            let number = DirectoryListing.forEachName(in: directory.path) { _ in
                count += 1
                if count == 1 { spoilDescriptors(of: directory.path) }
            }
            exit(number == ENOTDIR && count < 4000 ? 0 : 1)
        }
    }
}

/// Replaces the descriptors of an open directory by another file.
private func spoilDescriptors(of path: String) {
    let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(other) }
    var target = stat()
    guard stat(path, &target) == 0 else { return }
    for number in 3..<Int32(4096) where number != other {
        var status = stat()
        guard fstat(number, &status) == 0, status.st_dev == target.st_dev, status.st_ino == target.st_ino else {
            continue
        }
        dup2(other, number)
    }
}
