#if SVG
    import AlcedoCore
    @testable import AlcedoSVG
    import Foundation
    import Testing

    @Suite struct XMLParserTests {
        /// A handler that writes down what it receives.
        private struct Recorder: XMLHandler {
            var text = ""

            mutating func startElement(_ name: String, _ attributes: [XMLAttribute]) {
                text += "<" + name
                for attribute in attributes {
                    text += " \(attribute.name)=[\(String(decoding: attribute.value, as: UTF8.self))]"
                }
                text += ">"
            }

            mutating func characters(_ text: ArraySlice<UInt8>) { self.text += String(decoding: text, as: UTF8.self) }

            mutating func endElement() { text += "</>" }
        }

        /// Returns what the handler has received before the end or an error, and the error.
        private func parse(_ data: Data) throws -> (text: String, code: ImageDecodingError.Code?) {
            try data.withDecoderInput(of: "SVG") { bytes throws(ImageDecodingError) in
                var parser = XMLParser(Recorder())
                do throws(ImageDecodingError) {
                    try parser.parse(XMLText(bytes))
                    return (parser.handler.text, nil)
                } catch {
                    return (parser.handler.text, error.code)
                }
            }
        }

        @Test(arguments: [
            ("<a/>", "<a></>"), ("<a b='c' d = \"e\"\n/>", "<a b=[c] d=[e]></>"),
            ("<a>b<c>d</c >e</a>", "<a>b<c>d</>e</>"),
            ("<?xml version='1.0'?>\n<!-- <x> -->\n<a/> <x>", "<a></>"),
            ("<a b='\t\n&#10;&quot;'/>", "<a b=[  \n\"]></>"),
            ("<a>&lt;&#65;&#x42;&amp;</a>", "<a><AB&</>"), ("<a><![CDATA[<&]]]]></a>", "<a><&]]</>"),
            ("<a><?b c?><!--d-->e</a>", "<a>e</>"), ("<!DOCTYPE a><a/>", "<a></>"),
            ("<!DOCTYPE a PUBLIC '>' \"[\"><a/>", "<a></>"),
            ("<!DOCTYPE a [<!ENTITY b 'c>'><!--]>--><?]?><!ATTLIST a b CDATA ']'>]><a>&b;</a>", "<a>c></>"),
            ("<!DOCTYPE a [<!ENTITY b '&c;'><!ENTITY c 'd'><!ENTITY c 'e'>]><a b='&b;'>&b;</a>", "<a b=[d]>d</>"),
            ("<!DOCTYPE a [<!ENTITY b '<c>d</c>'>]><a>&b;&b;</a>", "<a><c>d</><c>d</></>"),
            ("<é:ü é='日本'/>", "<é:ü é=[日本]></>"),
        ])
        func `elements, attributes and text are passed to the handler`(text: String, expected: String) throws {
            let result = try parse(Data(text.utf8))

            #expect(result.text == expected)
            #expect(result.code == nil)
        }

        @Test(arguments: [
            ("<a>b", "<a>b"), ("<a><b c='", "<a>"), ("<a>b&l", "<a>b"), ("<a><!--b--", "<a>"), ("<a><![CD", "<a>"),
            ("<!DOCTYPE a [<!ENTITY b", ""), ("  ", ""), ("<a></a", "<a>"),
        ])
        func `a document that ends early is truncated after what has been passed on`(text: String, expected: String)
            throws
        {
            let result = try parse(Data(text.utf8))

            #expect(result.text == expected)
            #expect(result.code == .truncated)
        }

        @Test(arguments: [
            ("<a>b<c></a>", "<a>b<c>"), ("<a>b&c;", "<a>b"), ("<a><b c=d>", "<a>"), ("<a><b>\u{1}", "<a><b>"),
        ])
        func `what precedes an error is passed on`(text: String, expected: String) throws {
            let result = try parse(Data(text.utf8))

            #expect(result.text == expected)
            #expect(result.code == .corrupt)
        }

        @Test func `a character that is cut at the end is truncated, and an invalid one is corrupt`() throws {
            let start = Data("<a>".utf8)

            #expect(try parse(start + [0xE6, 0x97]).code == .truncated)
            #expect(try parse(start + [0xE6, 0x27]).code == .corrupt)
            #expect(try parse(Data([0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x3E, 0, 0x3D, 0xD8])).code == .truncated)
            #expect(try parse(Data([0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x3E, 0, 0x3D, 0xD8, 0x61, 0])).code == .corrupt)
        }
    }
#endif
