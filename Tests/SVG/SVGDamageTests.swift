#if SVG
    import AlcedoCore
    import AlcedoSVG
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct SVGDamageTests {
        private let decoder = SVGDecoder()

        @Test(.timeLimit(.minutes(10)), arguments: SampleDocument.allCases, DecoderConformance.checks)
        func `the decoder passes each conformance check`(
            sample: SampleDocument, check: DecoderConformance.Check
        ) async throws {
            try await check { [decoder] _ in (decoder, sample.data) }
        }

        @Test func `random bytes after the beginning of a document are an error`() {
            var random = SeededGenerator(seed: 5)
            for count in 0..<200 {
                let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                #expect(decoder.errorCode(Data("<svg ".utf8) + noise) != nil)
                #expect(decoder.errorCode(noise) != nil)
            }
        }

        @Test(arguments: [
            "<svg><g></svg>", "<svg a='1' a='2'/>", "<svg a=1/>", "<svg a/>", "<svg>&nope;</svg>", "<svg>&#0;</svg>",
            "<svg>&#xD800;</svg>", "<svg>&#x;</svg>", "<svg a='<'/>", "<svg><!ELEMENT></svg>", "<svg/ >", "<html/>",
            "<svg xmlns='urn:other'/>", "text", "<svg>\u{0}</svg>", "<svg>\u{FFFE}</svg>", "<svg></svg\u{8}>", "<>",
            "<!DOCTYPE svg [<!ENTITY a '<g>'>]><svg>&a;</svg>", "<!DOCTYPE svg [<!ENTITY a '</svg>'>]><svg>&a;</svg>",
            "<!DOCTYPE svg [<!ENTITY a '<g'>]><svg>&a; /></svg>", "<!DOCTYPE svg [x]><svg/>", "<svg>&a</svg>",
        ])
        func `documents that are not well-formed are corrupt`(text: String) {
            #expect(decoder.errorCode(Data(text.utf8)) == .corrupt)
        }

        @Test func `invalid UTF-8 is corrupt`() {
            for bytes in [[0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x28, 0xA1]]
                as [[UInt8]]
            {
                let data = Data("<svg id='".utf8) + Data(bytes) + Data("'/>".utf8)
                #expect(decoder.errorCode(data) == .corrupt, "\(bytes)")
            }
        }

        @Test(arguments: ["\n", "<!-- end -->", "garbage", "<svg>"])
        func `bytes after the root element are ignored`(end: String) {
            #expect(decoder.errorCode(document("") + Data(end.utf8)) == nil)
        }

        @Test func `a truncated document shows its complete elements`() throws {
            let whole = document(
                cover(#"fill="red""#) + #"<g><rect width="32" height="64" fill="lime"/>"# + "<rect/></g>")
            let cut = Data(whole.dropLast(12))
            let options = DecodingOptions(allowsPartial: true)

            let image = try decoder.decode(cut, options: options)

            #expect(image.partialError?.code == .truncated)
            #expect(image.pixels.rgba(9, 9) == [0, 255, 0, 255])
            #expect(image.pixels.rgba(50, 9) == [255, 0, 0, 255])
            #expect(decoder.errorCode(cut) == .truncated)
            let damaged = try decoder.decode(cut + Data("&x; <rect".utf8), options: options)
            #expect(damaged.partialError?.code == .corrupt)
            #expect(damaged.pixels == image.pixels)
            #expect(image.damage?.kind == .missingPixels)
        }

        @Test func `a truncated document without a complete root tag is an error`() {
            let data = document(cover(""))
            for count in [1, 4, 20, 60] {
                let options = DecodingOptions(allowsPartial: true)
                #expect(decoder.errorCode(Data(data.prefix(count)), options: options) == .truncated)
            }
        }
    }
#endif
