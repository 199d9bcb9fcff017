import Foundation
import Testing

@Suite
struct ReadmeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let root = folder.appending(path: "../..").standardized

    private static func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    @Test(arguments: [
        "README.md", "Modules/MemoryCache/README.md", "Modules/DiskCache/README.md",
        "Modules/Downloader/README.md", "Modules/URLResponseCache/README.md", "Modules/Processing/README.md",
        "Modules/Pipeline/README.md", "Modules/ViewBinding/README.md",
    ])
    func `every Swift snippet is compiled`(file: String) throws {
        let readme = try Self.text(Self.root.appending(path: file))
        let compiled = try Self.text(Self.folder.appending(path: "Snippets.swift"))

        let snippets = readme.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }

        #expect(snippets.count >= (file == "README.md" ? 3 : 1))
        for snippet in snippets {
            let lines = snippet.split(separator: "\n", omittingEmptySubsequences: false)
            let imports = lines.filter { $0.hasPrefix("import ") }
            let code = lines.drop { $0.hasPrefix("import ") || $0.isEmpty }.joined(separator: "\n")
            #expect(compiled.contains(code), "not in Snippets.swift:\n\(code)")
            for line in imports { #expect(compiled.contains(line + "\n")) }
        }
    }

    @Test func `every file that the README links to is there`() throws {
        let readme = try Self.text(Self.root.appending(path: "README.md"))

        let links = readme.matches(of: /\]\(([^)#:]+)\)/).map { String($0.output.1) }

        #expect(links.count >= 3)
        for link in links {
            #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: link).path), "\(link) is missing")
        }
    }

    @Test func `the two commands are scripts that can be run`() {
        for name in ["demo", "test"] {
            #expect(FileManager.default.isExecutableFile(atPath: Self.root.appending(path: "Scripts/\(name)").path))
        }
    }
}
