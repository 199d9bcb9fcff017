#if SVG
    import AlcedoCore
    @testable import AlcedoSVG
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct SVGDecoderTests {
        private let decoder = SVGDecoder()

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        @Test func `the information of a document is its natural size, with alpha`() throws {
            let info = try decoder.inspect(
                document("", attributes: #"width="30" height="20""#), limits: DecodingLimits())

            #expect(
                info
                    == ImageInfo(
                        format: .svg, size: PixelSize(width: 30, height: 20), hasAlpha: true, colorModel: .rgba))
        }

        @Test
        func `a file is parsed once for all that a load asks`() throws {
            #expect(try decoder.parseCounts(document("<rect width='9' height='9'/>")) == [1, 1])
        }

        @Test(arguments: [
            (#"width="30px" height="20""#, 30, 20), (#"width="1in" height="2.54cm""#, 96, 96),
            (#"width="25.4mm" height="72pt""#, 96, 96), (#"width="6pc" height="6em""#, 96, 96),
            (#"viewBox="5 5 120 45""#, 120, 45), (#"width="60" viewBox="0 0 120 45""#, 60, 23),
            (#"height="90" viewBox="0,0,120,45""#, 240, 90), (#"width="100%" height="50%" viewBox="0 0 12 9""#, 12, 9),
            ("", 300, 150), (#"width="40""#, 40, 150), (#"width="20.4" height="20.6""#, 20, 21),
            (#"width="0.2" height="7""#, 1, 7), (#"width="auto" height="9" viewBox="0 0 2 3""#, 6, 9),
            (#"viewBox="0 0 -5 5""#, 300, 150), (#"width="1e2" height="+.5e1""#, 100, 5),
            (#"width="calc(10px + 2 * 1in)" height="CALC( (3em - 8px) / 2 )""#, 202, 20),
            (#"style="width:calc(1rem*2);height: calc( 10mm + 0px )" width="9" height="9""#, 32, 38),
            (#"width="calc(100% - 10px)" height="30" viewBox="0 0 2 1""#, 60, 30),
            (#"width="calc(10px - 20px)" height="30" viewBox="0 0 2 1""#, 60, 30),
            (#"style="width:calc(1px - 5px)" width="20" height="10""#, 20, 10),
            (#"width="calc(10px+20px)" height="30" viewBox="0 0 2 1""#, 60, 30),
            (#"style="width:min(10px, 20px);height:Max(2px, 1px + 4px,3px)""#, 10, 5),
            (#"width="clamp(10px, 5px, 20px)" height="calc(2 * min(8px, 3em) - (4px / 2))""#, 10, 14),
            (#"width="min(50%, 10px)" height="30" viewBox="0 0 2 1""#, 60, 30),
            (#"width="clamp(1px, 2px)" height="min()" viewBox="0 0 2 1""#, 2, 1),
            (#"style="inline-size:60px;block-size:20px" width="8""#, 60, 20),
            (#"width="calc(10px * 2px)" height="calc(1px / 0)" viewBox="0 0 2 1""#, 2, 1),
            (#"width="calc(sin(1) * 9px)" height="calc(((1px)" viewBox="0 0 2 1""#, 2, 1),
            (#"width="2rem" height="101.6Q""#, 32, 96), (#"style="width:203.2q;height:1.5REM""#, 192, 24),
            (#"width="-5" height="9" viewBox="0 0 2 3""#, 6, 9), (#"width="9" height="-3""#, 9, 150),
            (#"width="-1in" height="-5%" viewBox="0 0 12 9""#, 12, 9), (#"width="9remx" height="9""#, 300, 9),
        ])
        func `the natural size follows width, height and view box`(attributes: String, width: Int, height: Int) throws {
            let data = document(cover(#"fill="red""#), attributes: attributes)

            #expect(try decoder.inspect(data, limits: DecodingLimits()).size == PixelSize(width: width, height: height))
            #expect(try decode(data).size == PixelSize(width: width, height: height))
        }

        @Test(arguments: [#"width="0" height="9""#, #"width="9" height="0em""#, #"style="width:0""#])
        func `a document whose width or height is zero is corrupt`(attributes: String) {
            #expect(decoder.errorCode(document("", attributes: attributes)) == .corrupt)
        }

        @Test(arguments: [
            (TargetSize(width: 200, height: 200), 200, 100),
            (TargetSize(width: 200, height: 200, mode: .fill), 400, 200),
            (TargetSize(width: 10, height: 10), 10, 5), (TargetSize(width: .max, height: 50), 100, 50),
            (TargetSize(width: 0, height: 50), 40, 20), (TargetSize(width: 1, height: 1), 1, 1),
        ])
        func `a target size is the size of the result, larger or smaller`(
            target: TargetSize, width: Int, height: Int
        ) throws {
            let data = document("", attributes: #"width="40" height="20""#)

            #expect(try decode(data, DecodingOptions(target: target)).size == PixelSize(width: width, height: height))
        }

        @Test(arguments: ["", #"viewBox="0 0 2 2""#, #"viewBox="10 10 20 20""#])
        func `a small document is drawn at a larger size with sharp edges`(viewBox: String) throws {
            let square = viewBox.contains("20") ? #"x="10" y="10" width="10" height="10""# : #"width="1" height="1""#
            let data = document(
                #"<rect x="-50" y="-50" width="200" height="200" fill="blue"/>"# + "<rect \(square) fill='red'/>",
                attributes: #"width="2" height="2" \#(viewBox)"#)

            let image = try decode(data, DecodingOptions(target: TargetSize(width: 200, height: 200)))

            #expect(image.pixels.rgba(99, 99) == [255, 0, 0, 255])
            #expect(image.pixels.rgba(100, 99) == [0, 0, 255, 255])
            #expect(image.pixels.rgba(99, 100) == [0, 0, 255, 255])
        }

        @Test func `pixels are straight, premultiplied or opaque`() throws {
            let half = document(cover(##"fill="#ff8000" fill-opacity="0.5""##))

            let straight = try decode(half)
            let premultiplied = try decode(half, DecodingOptions(alphaMode: .premultiplied))
            let opaque = try decode(document(cover(##"fill="#123456""##)))
            let empty = try decode(document(""))

            #expect(straight.pixels.alphaMode == .straight)
            #expect(straight.format == .svg)
            let pixel = straight.pixels.rgba(5, 5)
            #expect((127...128).contains(pixel[3]))
            #expect(pixel[0] == 255)
            #expect((126...130).contains(pixel[1]))
            #expect(pixel[2] == 0)
            #expect(premultiplied.pixels.alphaMode == .premultiplied)
            #expect(premultiplied.pixels.converted(to: .straight).tightBytes == straight.pixels.tightBytes)
            #expect(opaque.pixels.alphaMode == .opaque)
            #expect(opaque.pixels.rgba(63, 63) == [0x12, 0x34, 0x56, 255])
            #expect(empty.pixels.tightBytes == Array(repeating: 0, count: 4 * 64 * 64))
        }

        @Test func `the resolution is 96 pixels for an inch`() throws {
            let image = try decode(document(#"<rect width="0.25in" height="1in" fill="red"/>"#))

            #expect(image.pixels.rgba(23, 9) == [255, 0, 0, 255])
            #expect(image.pixels.rgba(24, 9) == [0, 0, 0, 0])
        }

        @Test func `entities of the document are expanded, in values and as elements`() throws {
            let image = try decode(SampleDocument.entities.data)

            #expect(image.pixels.rgba(4, 4) == [255, 0, 0, 255])
        }

        @Test(arguments: [
            (
                "<s:svg xmlns:s='http://www.w3.org/2000/svg' width='8' height='8'>"
                    + "<s:rect width='9' height='9'/></s:svg>",
                true
            ),
            ("<svg width='8' height='8'><rect width='9' height='9'/></svg>", true),
            (
                "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>"
                    + "<x:rect xmlns:x='urn:x' width='9'/></svg>",
                false
            ),
        ])
        func `elements are those of the namespace, with any prefix or without one`(text: String, isDrawn: Bool) throws {
            #expect(try decode(Data(text.utf8)).pixels.rgba(3, 3)[3] == (isDrawn ? 255 : 0))
        }

        @Test(arguments: [
            (String.Encoding.utf8, "utf-8"), (.utf16LittleEndian, "utf-16"), (.utf16BigEndian, "utf-16"),
            (.isoLatin1, "ISO-8859-1"), (.windowsCP1252, "windows-1252"),
        ])
        func `the encoding is that of the mark or the declaration`(encoding: String.Encoding, name: String) throws {
            let text = """
                <?xml version="1.0" encoding="\(name)"?><svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">\
                <style>#ü { fill: red }</style><rect id="ü" width="9" height="9"/></svg>
                """
            let data = try #require(text.data(using: encoding))

            #expect(try decode(data).pixels.rgba(3, 3) == [255, 0, 0, 255])
        }

        @Test(arguments: [
            (#"style="width:40px;height:20px""#, 40, 20), (#"style="width: 40px" width="9" height="20""#, 40, 20),
            (#"style="width:40px;height:20px" width="9" height="9""#, 40, 20),
            (#"style="WIDTH:1in!important;width:9px;height:20px;;""#, 96, 20),
            (#"style="width:40;height:-3px" width="8" height="9""#, 8, 9),
            (#"style="width:100%;height:auto" width="8" height="9" viewBox="0 0 30 20""#, 30, 20),
            (#"style="height:2rem;fill:url(a;width:9px)" viewBox="0 0 30 20""#, 48, 32),
            (#"style="width:calc(9px);height:20px" width="8""#, 9, 20),
            (#"style="max-width:9px;width:0" width="8" height="9""#, 0, 0),
        ])
        func `the style of the root element determines the size as in browsers`(
            attributes: String, width: Int, height: Int
        ) throws {
            let data = document(cover(#"fill="red""#), attributes: attributes)

            guard width > 0 else {
                #expect(decoder.errorCode(data) == .corrupt)
                return
            }
            let image = try decode(data)
            #expect(image.size == PixelSize(width: width, height: height))
            #expect(image.pixels.rgba(width - 1, height - 1) == [255, 0, 0, 255])
        }

        @Test(arguments: [
            ("svg{width:40px;height:20px}", "", 40, 20), ("svg { width: 40px }", #"width="9" height="20""#, 40, 20),
            (":root, g{height:30px}", #"viewBox="0 0 2 1""#, 60, 30),
            (":root{width:30px}svg{width:9px}", #"height="9""#, 30, 9),
            ("svg{width:9px}svg{width:8px;height:7px}", "", 8, 7),
            ("svg{width:9px;height:9px}", #"style="width:40px" height="5""#, 40, 9),
            ("svg{width:40px!important}", #"style="width:9px" height="5""#, 40, 5),
            // Other elements, other media, a comment, and invalid declarations.
            ("g svg, svg g, svg.a{width:40px}", #"width="9" height="8""#, 9, 8),
            ("@media print{svg{width:40px}}", #"width="9" height="8""#, 9, 8),
            ("/*svg{width:40px}*/", #"width="9" height="8""#, 9, 8),
            ("svg{width:40;height:a}", #"width="9" height="8""#, 9, 8),
        ])
        func `a style sheet for the root element determines the size as in browsers`(
            sheet: String, attributes: String, width: Int, height: Int
        ) throws {
            for style in ["<style>\(sheet)</style>", "<style type='text/css' media='all'><![CDATA[\(sheet)]]></style>"]
            {
                let data = document(style + cover(#"fill="red""#), attributes: attributes)

                let image = try decode(data)
                #expect(image.size == PixelSize(width: width, height: height))
                #expect(image.pixels.rgba(width - 1, height - 1) == [255, 0, 0, 255])
                #expect(try decoder.inspect(data, limits: DecodingLimits()).size == image.size)
            }
            let print = document("<style media='print'>\(sheet)</style>", attributes: #"width="3" height="4""#)
            #expect(try decode(print).size == PixelSize(width: 3, height: 4))
        }

        @Test func `an unknown encoding is not supported`() {
            let text = #"<?xml version="1.0" encoding="ebcdic"?><svg xmlns="http://www.w3.org/2000/svg"/>"#

            #expect(decoder.errorCode(Data(text.utf8)) == .unsupportedVariant)
        }

        @Test func `a file is recognized by its beginning, and nothing else is`() {
            let registry = CodecRegistry([.svg])
            for text in [
                "<svg/>", "\n\t<svg", "<?xml version='1.0'?>", "<!-- a comment -->", "<!DOCTYPE svg PUBLIC", "<a:svg ",
                "\u{FEFF}<svg",
            ] {
                #expect(registry.entry(for: Data(text.utf8))?.format == .svg, "\(text)")
            }
            #expect(registry.entry(for: SampleDocument.utf16.data) != nil)
            for text in ["", "<", "<html>", "<!DOCTYPE html>", "svg", "x<svg", "<sv", "<a:svgz", "{\"svg\": 1}"] {
                #expect(registry.entry(for: Data(text.utf8)) == nil, "\(text)")
            }
            #expect(ImageFormat.svg.mediaType == "image/svg+xml")
            #expect(registry.encoder(for: .svg) == nil)
        }

        @Test func `the reported decoding memory grows with the size, layers and images`() throws {
            func count(_ content: String, _ side: Int = 64) throws -> Int {
                let options = DecodingOptions(target: TargetSize(width: side, height: side))
                return try decoder.decodingByteCount(document(content), options: options)
            }
            let image = #"<image xlink:href="data:;base64,\#(SampleDocument.bluePNG)"/>"#

            #expect(try count("") >= 2 * 4 * 64 * 64)
            #expect(try count("", 640) >= 2 * 4 * 640 * 640)
            #expect(try count(#"<g opacity=".5"><g opacity=".5"/></g>"#, 640) >= count("", 640) + 2 * 4 * 640 * 640)
            #expect(try count(image) >= count("<image/>") + 2 * 2 * 4)
        }

        @Test func `references of a gradient to itself, another kind or a missing element are ignored`() throws {
            for reference in ["#g", "#r", "#missing"] {
                let gradient = """
                    <rect id="r"/><linearGradient id="g" xlink:href="\(reference)"><stop stop-color="red"/>\
                    </linearGradient>
                    """
                let image = try decode(document(gradient + cover(#"fill="url(#g)""#)))
                #expect(image.pixels.rgba(9, 9) == [255, 0, 0, 255], "\(reference)")
            }
        }
    }
#endif
