#if SVG
    import AlcedoCore
    @testable import AlcedoSVG
    import Foundation
    import TestSupport
    import Testing

    @Suite struct SVGSanitizerTests {
        private func sanitized(_ data: Data) throws -> String {
            let document = try data.withDecoderInput(of: "SVG") { bytes throws(ImageDecodingError) in
                try SVGDocument(bytes, limits: DecodingLimits())
            }
            return String(decoding: document.bytes, as: UTF8.self)
        }

        private func pixel(_ content: String) throws -> [UInt8] {
            try SVGDecoder().decode(document(content), options: DecodingOptions()).pixels.rgba(32, 32)
        }

        @Test(arguments: [
            "<script>alert(1)</script>", "<script href='http://a.test/x.js'/>",
            "<foreignObject><p>x</p></foreignObject>",
            "<g onload='alert(1)' onclick='x'/>", "<a href='http://a.test/'><g/></a>", "<iframe src='http://a.test'/>",
            "<?xml-stylesheet href='http://a.test/a.css'?>", "<!-- http://a.test -->",
            "<image href='http://a.test/a.png'/>", "<image xlink:href='file:///etc/a.test'/>",
            "<image href='a.test.png'/>",
            "<use href='http://a.test/a.svg#a'/>", "<use xlink:href='data:image/svg+xml,%3Csvg/%3E#a.test'/>",
            "<feImage href='//a.test/a.png'/>", "<rect fill='url(http://a.test/a.svg#a)'/>",
            "<rect style='fill:url(\"http://a.test/a.svg#a\")'/>",
            "<rect style='fill:URL(  &#39;http://a.test&#39; )'/>",
            "<style>@import url(http://a.test/a.css);</style>", "<style>@import 'http://a.test/a.css';</style>",
            "<style>@font-face { font-family: a; src: url(http://a.test/a.woff) }</style>",
            "<style>rect { fill: url(data:image/svg+xml,a.test#a) }</style>",
            "<style>/* a.test */</style>", "<image xmlns:x='http://a.test'/>",
            "<x:include xmlns:x='urn:x' href='a.test'/>",
            "<g xml:base='http://a.test/'/>", "<linearGradient id='a' href='a.test#b'/>",
            "<image href='data:text/plain,a.test'/>", "<metadata>a.test</metadata>",
        ])
        func `scripts, links and references to other documents are removed`(content: String) throws {
            let text = try sanitized(document(content))

            for word in ["a.test", "alert", "onload", "onclick", "script", "foreign", "import", "<!--"] {
                #expect(!text.contains(word), "\(word)")
            }
            #expect(text.hasSuffix("</svg>"))
        }

        @Test(arguments: [
            #"<style>rect { fill: u\72l(http://a.test) }</style>"#,
            #"<style>rect { fill: \75 rl(http://a.test) }</style>"#,
            #"<style>\40import 'http://a.test';</style>"#, #"<style>\@import 'http://a.test';</style>"#,
            #"<rect style="fill: ur\l(http://a.test)"/>"#, #"<rect fill="u\52 l(http://a.test)"/>"#,
        ])
        func `escapes cannot hide the name of a function or a rule`(content: String) throws {
            let text = try sanitized(document(content))

            #expect(!text.contains("\\"))
            #expect(text.contains("_"))
        }

        @Test(arguments: [
            ("<rect fill='url(#a)'/>", "fill=\"url(#a)\""),
            ("<rect fill='url( \"#a\" ) red'/>", "fill=\"url(#a) red\""),
            ("<rect fill='url(x#a) red'/>", "fill=\"url(#-) red\""),
            ("<rect style='fill:url(#a)'/>", "style=\"fill:url(#a)\""),
            ("<use xlink:href=' #a '/>", "xlink:href=\"#a\""), ("<use href='#a'/>", "href=\"#a\""),
            ("<use xlink:href='#b' href='#a'/>", "<use href=\"#a\">"),
            ("<text xml:space='preserve'> a&lt;b </text>", "xml:space=\"preserve\"> a&lt;b </text>"),
            ("<style>.a > b { fill: red }</style>", "<style>.a &gt; b { fill: red }</style>"),
            ("<style><![CDATA[a{fill:red}]]></style>", "<style>a{fill:red}</style>"),
            ("<style>a { font-family: 'B\\'c' }</style>", "font-family: 'B\\'c'"),
            ("<g data-a='1' class='b c'/>", "<g data-a=\"1\" class=\"b c\">"),
            ("<switch><desc/><foreignObject/><g/></switch>", "<switch><g></g></switch>"),
            ("<desc>long</desc><g/>", "<title></title><g></g>"),
            ("<feTurbulence numOctaves='1000000'/>", "numOctaves=\"9\""),
            ("<polyline points='1 2 3 4 5'/>", "points=\"1 2 3 4 \""),
            ("<g id='a&#10;b'/>", "id=\"a&#10;b\""),
        ])
        func `what is drawn is kept`(content: String, expected: String) throws {
            #expect(try sanitized(document(content)).contains(expected))
        }

        @Test func `the root element has its natural size and a view box`() throws {
            let text = try sanitized(document("", attributes: #"width="50%" height="2in""#))

            #expect(text.contains(#"height="192.0""#))
            #expect(text.contains(#"width="300.0""#))
            #expect(text.contains(#"viewBox="0 0 300.0 192.0""#))
        }

        @Test func `files outside the document are not read`() throws {
            let directory = try TemporaryDirectory()
            let red = document(cover(#"id="r" fill="red""#))
            let file = directory.url.appending(path: "red.svg")
            try red.write(to: file)
            for name in [file.absoluteString, file.path, "red.svg"] {
                let image = #"<image width="64" height="64" xlink:href="\#(name)"/>"#
                #expect(try pixel(image + #"<use xlink:href="\#(name)#r"/>"#) == [0, 0, 0, 0])
                let rules = "<style>@import url(\(name)); rect { fill: url(\(name)#r) }</style>"
                #expect(try pixel(rules + cover("")) == [0, 0, 0, 0])
            }
        }

        @Test(arguments: ["SYSTEM", "PUBLIC ''"])
        func `external entities are unknown`(kind: String) throws {
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(path: "text")
            try Data("red".utf8).write(to: file)
            let text = """
                <!DOCTYPE svg \(kind) "\(file.path).dtd" [<!ENTITY % p SYSTEM "\(file.path)"> %p; <!ENTITY x \(kind) \
                "\(file.path)">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>
                """

            #expect(SVGDecoder().errorCode(Data(text.utf8)) == .corrupt)
            #expect(SVGDecoder().errorCode(Data(text.replacing("&x;", with: "").utf8)) == nil)
        }

        @Test func `an embedded PNG is drawn, whatever its media type is`() throws {
            let png = SampleDocument.bluePNG
            let escaped = try #require(Data(base64Encoded: png)).map {
                "%" + String(Int($0) | 0x100, radix: 16).suffix(2)
            }
            for url in [
                "data:image/png;base64,\(png)", "data:;base64,\(png)", "DATA:text/css;base64,\(png)",
                "data:,\(escaped.joined())",
            ] {
                let image = #"<image width="64" height="64" preserveAspectRatio="none" xlink:href="\#(url)"/>"#
                #expect(try pixel(image) == [0, 0, 255, 255], "\(url.prefix(20))")
            }
        }

        @Test func `the first frame of an embedded GIF is drawn, without the others`() throws {
            let gif = SampleDocument.animatedGIF
            let content = #"<image width="64" height="64" href="data:image/gif;base64,\#(gif)"/>"#

            #expect(try pixel(content) == [255, 0, 0, 255])
            let image = try #require(EmbeddedImage(url: Array("data:;base64,\(gif)".utf8)))
            let file = try #require(Data(base64Encoded: gif))
            #expect(image.size == PixelSize(width: 2, height: 2))
            #expect(image.bytes.dropLast() == file.prefix(image.bytes.count - 1))
            #expect(image.bytes.last == 0x3B)
            #expect(image.bytes.count < file.count)
            for count in 6..<image.bytes.count - 1 {
                let cut = file.prefix(count).base64EncodedString()
                #expect(EmbeddedImage(url: Array("data:;base64,\(cut)".utf8)) == nil, "\(count)")
            }
        }

        @Test func `an embedded document is sanitized as well`() throws {
            let inner = document(cover(#"fill="lime" onclick="x""#) + "<script/>").base64EncodedString()
            let image = #"<image width="64" height="64" href="data:image/svg+xml;base64,\#(inner)"/>"#

            let text = try sanitized(document(image))
            let start = try #require(text.firstRange(of: "base64,"))
            let base64 = String(text[start.upperBound...].prefix { $0 != "\"" })
            let written = String(decoding: try #require(Data(base64Encoded: base64)), as: UTF8.self)

            #expect(written.contains("lime"))
            #expect(!written.contains("onclick"))
            #expect(!written.contains("script"))
            #expect(try pixel(image) == [0, 255, 0, 255])
        }

        @Test func `documents in documents end at the third level`() throws {
            var data = document(cover(#"fill="red""#))
            for level in 1...3 {
                let url = "data:image/svg+xml;base64,\(data.base64EncodedString())"
                let content = #"<image width="64" height="64" href="\#(url)"/>"#
                #expect(try pixel(content) == (level < 3 ? [255, 0, 0, 255] : [0, 0, 0, 0]), "\(level)")
                data = document(content)
            }
        }
    }
#endif
