import Foundation
import Testing

@Suite
struct ReadmeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let root = folder.appending(path: "../..").standardized

    private static func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    private static func snippets(of file: String) throws -> [String] {
        try text(root.appending(path: file)).components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    private static let readmes = [
        "README.md", "Modules/MemoryCache/README.md", "Modules/DiskCache/README.md",
        "Modules/Downloader/README.md", "Modules/URLResponseCache/README.md", "Modules/Processing/README.md",
        "Modules/Pipeline/README.md", "Modules/ViewBinding/README.md", "Modules/ViewBinding/GTK/README.md",
    ]

    /// Is about systems that this package is not built on, and says so.
    private static let uncompiled = "Modules/ViewBinding/Documentation.docc/OtherToolkits.md"

    /// The pages of all catalogs.
    private static let articles: [String] = {
        let modules = root.appending(path: "Modules").path
        let paths = FileManager.default.enumerator(atPath: modules)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.sorted().map { "Modules/\($0)" }
    }()

    @Test(arguments: readmes)
    func `every README has Swift snippets`(file: String) throws {
        #expect(try Self.snippets(of: file).count >= (file == "README.md" ? 3 : 1))
    }

    @Test func `the modules have catalogs`() {
        #expect(Self.articles.count >= 20)
    }

    @Test func `the page that is not compiled says so`() throws {
        #expect(
            try Self.text(Self.root.appending(path: Self.uncompiled)).contains("**Nothing on this page is compiled"))
    }

    @Test(arguments: readmes + articles.filter { $0 != uncompiled })
    func `every Swift snippet is compiled`(file: String) throws {
        let own = try ["Snippets.swift", "ArticleSnippets.swift"].map {
            try Self.text(Self.folder.appending(path: $0))
        }
        // Within `#if GTK`, and so four columns further in.
        let gtk = try Self.text(Self.root.appending(path: "Tests/GTK/Snippets.swift"))
        let compiled = own.joined() + gtk.replacing("\n    ", with: "\n")

        for snippet in try Self.snippets(of: file) {
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
