import AlcedoCore
import FoundationEssentials
import Testing

@Suite struct KeyTests {
    private func resource(_ text: String, ignoring names: Set<String> = []) throws -> String {
        ResourceKey(try #require(URL(string: text)), ignoringQueryItems: names).description
    }

    // Caches of earlier releases contain these names, so they must never change. SHA-256 of "length:resource" and the
    // variant, computed independently.
    @Test(arguments: [
        (
            "https://example.com/a.png", "", "8b3d4e720e1e6df4c8f8a9e3ba1b4fe6106f4ec03fad22a0fdf9a763edb02d84"
        ),
        (
            "https://example.com/a.png", "12:process=blur",
            "dfa0518e336678224cbc4e8bc2fc467e41eaeca281291d93249f9234e700a465"
        ),
        ("ab", "c", "744931702c0ccc8206b265f934aba523cea2d969112daa8f14bed36454c6b749"),
        ("a", "bc", "fac4d75282e3de358e8a42f2e1166bfe879257cdfb0961daf46b42003058b1a8"),
    ])
    func `file names are stable`(resource: String, variant: String, name: String) {
        #expect(ImageKey(ResourceKey(resource), variant: variant).fileName == name)
    }

    @Test func `names and keys with different parts differ for any characters`() {
        let texts = ["", "a", "ab", "b", "a b", "a [b]", "1:a", "a;", ":", "[", "]", "a\0", "a\n", "🙂"]
        var keys: Set<ImageKey> = []
        var names: Set<String> = []
        for resource in texts {
            for variant in texts {
                let key = ImageKey(ResourceKey(resource), variant: variant)
                keys.insert(key)
                names.insert(key.fileName)
            }
        }
        #expect(keys.count == texts.count * texts.count)
        #expect(names.count == texts.count * texts.count)
    }

    @Test func `names that only look equal are different resources`() {
        // One and two code points. A Linux file system keeps both.
        let composed = ResourceKey("file:/\u{E9}.png")
        let decomposed = ResourceKey("file:/e\u{301}.png")
        #expect(composed != decomposed)
        #expect(ImageKey(composed) != ImageKey(decomposed))
        #expect(ImageKey(composed, variant: "\u{E9}") != ImageKey(composed, variant: "e\u{301}"))
        // Equal lengths in UTF-8: the angstrom sign, and A with a combining ring.
        #expect(ResourceKey("\u{212B}") != ResourceKey("A\u{30A}"))
    }

    @Test func `a variant differs from its original and refers to it`() {
        let variant = ImageKey(ResourceKey("a"), variant: "small")
        #expect(variant != variant.original)
        #expect(variant.original == ImageKey(ResourceKey("a")))
        #expect(variant.original.original == variant.original)
        #expect(variant.description == "a [small]")
        #expect(variant.original.description == "a")
    }

    @Test func `a fragment is not part of a resource`() throws {
        #expect(try resource("https://example.com/a?b#c") == "https://example.com/a?b")
        #expect(try resource("https://example.com/a#b?c") == "https://example.com/a")
    }

    @Test(arguments: [
        ("https://h/a?sig=1&size=2&exp=3", "https://h/a?size=2"),
        ("https://h/a?sig=1&exp=3", "https://h/a"),
        ("https://h/a?sig", "https://h/a"),
        ("https://h/a?size=2&&sig=", "https://h/a?size=2&"),
        ("https://h/a?signed=1&b=sig&sig=9#sig=1", "https://h/a?signed=1&b=sig"),
        ("https://h/sig?size=2", "https://h/sig?size=2"),
        ("https://h/a?", "https://h/a?"),
        ("https://h/a", "https://h/a"),
        ("https://h/a?b=1?sig=2&sig=3", "https://h/a?b=1?sig=2"),
    ])
    func `ignored query items are removed, and the others keep order and spelling`(url: String, key: String) throws {
        #expect(try resource(url, ignoring: ["sig", "exp"]) == key)
    }

    @Test func `without ignored items the query is unchanged`() throws {
        #expect(try resource("https://h/a?b=%41&b=A") == "https://h/a?b=%41&b=A")
    }
}
