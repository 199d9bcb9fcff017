import AlcedoProgramSupport
import FoundationEssentials
import Testing

@testable import AlcedoTool

@Suite struct ConsoleTests {
    /// Control characters and characters that change the text direction.
    private static let controls: [Unicode.Scalar] =
        ["\0", "\u{1B}", "\n", "\u{7F}", "\u{9B}", "\u{61C}", "\u{200E}", "\u{200F}"]
        + [0x202A...0x202E, 0x2066...0x2069].joined().compactMap { Unicode.Scalar($0 as UInt32) }

    @Test(arguments: controls)
    func `control characters are never written to the terminal`(control: Unicode.Scalar) throws {
        let text = "a\(control)gpj.exe"

        #expect(Console.printable(text) == "a?gpj.exe")
        #expect(SafeName(path: text).text == "a_gpj.exe")
        let line = try JSONLine.text(of: [text])
        #expect(!line.dropLast().unicodeScalars.contains(control))
        #expect(try JSONDecoder().decode([String].self, from: Data(line.utf8)) == [text])
    }

    @Test(arguments: ["Ä ñ 漢字", "שלום", "مرحبا", "e\u{301}", "👩‍👩‍👧"])
    func `text in any script is written unchanged`(text: String) {
        #expect(Console.printable(text) == text)
    }
}
