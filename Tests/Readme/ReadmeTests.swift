import Foundation
import Testing

@Suite
struct ReadmeTests {
    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let root = directory.appending(path: "../..").standardized

    private static func text(_ path: String, in directory: URL = root) throws -> String {
        try String(contentsOf: directory.appending(path: path), encoding: .utf8)
    }

    /// `Scripts/docs` compiles the code of all pages; that of these is run as well.
    @Test(arguments: [("WriteABackend", 3), ("WriteACodec", 4)])
    func `the code of an article is the code tested here`(name: String, count: Int) throws {
        let tested = try Self.text("\(name).swift", in: Self.directory)
        let article = try Self.text("Modules/Standard/Documentation.docc/\(name).md")

        let snippets = article.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }

        #expect(snippets.count == count)
        for snippet in snippets {
            let lines = snippet.split(separator: "\n", omittingEmptySubsequences: false)
            let code = lines.drop { $0.hasPrefix("import ") || $0.isEmpty }.joined(separator: "\n")
            #expect(tested.contains(code), "not in \(name).swift:\n\(code)")
        }
    }

    @Test func `the page that is not compiled says so`() throws {
        let page = try Self.text("Modules/ViewBinding/Documentation.docc/OtherToolkits.md")

        #expect(page.contains("**Nothing on this page is compiled"))
    }

    @Test func `every file that the README links to exists`() throws {
        let links = try Self.text("README.md").matches(of: /\]\(([^)#:]+)\)/).map { String($0.output.1) }

        #expect(links.count >= 3)
        for link in links {
            #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: link).path), "\(link) is missing")
        }
    }

    @Test func `the two commands are executable scripts`() {
        for name in ["demo", "test"] {
            #expect(FileManager.default.isExecutableFile(atPath: Self.root.appending(path: "Scripts/\(name)").path))
        }
    }
}
