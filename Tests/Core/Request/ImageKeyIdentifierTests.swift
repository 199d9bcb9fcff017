import AlcedoTesting
import FoundationEssentials
import Testing

@testable import AlcedoCore

@Suite struct ImageKeyIdentifierTests {
    private func identifier(of variant: String) -> String? {
        ImageKey(ResourceKey("a"), variant: variant).additionalIdentifier
    }

    @Test func `the original has no identifier`() { #expect(identifier(of: "") == nil) }

    @Test func `an additional identifier is used unchanged`() {
        for text in ["own", "5:id=x;", "é;1:", "process=x"] {
            let request = ImageRequest(source: .file("/a.png"), additionalIdentifier: text)
            #expect(request.key.additionalIdentifier == text)
        }
    }

    @Test func `a file version is not part of the identifier`() {
        #expect(identifier(of: "9:file=none") == nil)
        #expect(identifier(of: "9:file=none;9:process=a;9:process=b;6:id=own") == "a_bown")
    }

    @Test(arguments: [
        "round", "process=round", "7:round", "99999999999999999999:id=a", "9223372036854775807:id=a", "-1:id=a",
        "4:id=a;", "4:id=a4:id=b", "8:target=1", "4:id=é", ":", "5:id=\u{301}",
    ])
    func `a variant in another form is its own identifier`(variant: String) {
        #expect(identifier(of: variant) == variant)
    }
}
