#if SVG
    import AlcedoCore
    import AlcedoRuntime
    @testable import AlcedoSVG
    import Foundation
    import TestSupport
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct SVGLimitsTests {
        private let decoder = SVGDecoder()
        /// For documents whose drawing takes longer than the default time limit on an emulated processor.
        private let patient = SVGDecoder(timeLimit: .seconds(200))

        private func code(
            _ content: String, side: Int? = nil, by decoder: SVGDecoder? = nil
        ) -> ImageDecodingError.Code? {
            let target = side.map { TargetSize(width: $0, height: $0) }
            return (decoder ?? self.decoder).errorCode(document(content), options: DecodingOptions(target: target))
        }

        /// Returns the error of a document before it is drawn. librsvg 2.60 draws at most 50 nested elements.
        private func refusal(of content: String) -> ImageDecodingError.Code? {
            do throws(ImageDecodingError) {
                _ = try decoder.decodingByteCount(document(content), options: DecodingOptions())
                return nil
            } catch {
                return error.code
            }
        }

        private func nested(_ count: Int, _ open: String, _ close: String, _ content: String = "") -> String {
            String(repeating: open, count: count) + content + String(repeating: close, count: count)
        }

        @Test func `more nested elements than the limit are refused`() {
            #expect(refusal(of: nested(249, "<g>", "</g>")) == nil)
            #expect(code(nested(250, "<g>", "</g>")) == .exceedsLimit)
        }

        @Test func `more attributes than the limit are refused`() {
            func element(_ count: Int) -> String { "<g " + (0..<count).map { "a\($0)='' " }.joined() + "/>" }

            #expect(code(element(1_000)) == nil)
            #expect(code(element(1_001)) == .exceedsLimit)
        }

        @Test func `more classes of an element than the limit are refused`() {
            func element(_ count: Int) -> String { "<g class='" + (0..<count).map { "a\($0)  " }.joined() + "'/>" }

            #expect(code(element(1_000)) == nil)
            #expect(code(element(1_001)) == .exceedsLimit)
        }

        @Test func `the elements of a document count as bytes`() throws {
            let data = document(String(repeating: "<g/>", count: 1_000))
            let count = try decoder.decodingByteCount(data, options: DecodingOptions())
            // The elements take up most of the memory.
            #expect(count > 1_000_000)

            let cases: [(limit: Int, code: ImageDecodingError.Code?)] = [(count, nil), (count - 1, .exceedsLimit)]
            for (limit, code) in cases {
                let options = DecodingOptions(limits: DecodingLimits(maximumByteCount: limit))
                #expect(decoder.errorCode(data, options: options) == code)
            }
        }

        @Test func `many declarations of namespaces do not slow elements down`() {
            let declarations = (0..<500).map { " xmlns:a\($0)='b'" }.joined()

            let elements = String(repeating: "<b:c/>", count: 50_000)

            #expect(refusal(of: nested(200, "<g\(declarations)>", "</g>", elements)) == nil)
        }

        @Test func `a long attribute is drawn`() {
            #expect(code("<g id='\(String(repeating: "a", count: 10_500_000))'/>") == nil)
        }

        @Test func `more elements than the limit are refused`() {
            #expect(code(String(repeating: "<g/>", count: 200_000)) == .exceedsLimit)
        }

        @Test func `a file larger than the limit is refused`() {
            #expect(decoder.errorCode(Data(repeating: 0x20, count: (32 << 20) + 1)) == .exceedsLimit)
        }

        @Test(arguments: [1, 9])
        func `entities that expand to more than the limit are refused`(depth: Int) {
            let entities = (1...depth).map { "<!ENTITY e\($0) '\(String(repeating: "&e\($0 - 1);", count: 10))'>" }
            let text = """
                <!DOCTYPE svg [<!ENTITY e0 '0123456789'>\(entities.joined())]>\
                <svg xmlns="http://www.w3.org/2000/svg"><g id="&e\(depth);"/></svg>
                """

            #expect(decoder.errorCode(Data(text.utf8)) == (depth == 1 ? nil : .exceedsLimit))
        }

        @Test func `an entity that contains itself is refused`() {
            let text = "<!DOCTYPE svg [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><svg id='&a;'/>"

            #expect(decoder.errorCode(Data(text.utf8)) == .exceedsLimit)
        }

        @Test(arguments: ["1e-8", "1e9"]) func `the length of kernel units is ignored`(length: String) {
            let light = "<feDiffuseLighting kernelUnitLength='\(length)'><feDistantLight/></feDiffuseLighting>"
            let matrix = "<feConvolveMatrix kernelUnitLength='\(length)' kernelMatrix='1 1 1 1 1 1 1 1 1'/>"
            let rect = "<rect width='9' height='9' filter='url(#f)'/>"

            #expect(code("<filter id='f'>\(light)\(matrix)</filter><g transform='scale(1e6)'>\(rect)</g>") == nil)
        }

        @Test(arguments: ["0", "-1", "0%"]) func `filter primitives with an empty region are refused`(length: String) {
            func filtered(_ length: String) -> String {
                "<filter id='f'><feFlood width='\(length)'/><feTile/></filter><rect filter='url(#f)'/>"
            }

            #expect(code(filtered("9")) == nil)
            #expect(code(filtered(length)) == .unsupportedVariant)
        }

        @Test func `elements that are used exponentially often are refused`() {
            let groups = (1...20).map { "<g id='g\($0)'><use href='#g\($0 - 1)'/><use href='#g\($0 - 1)'/></g>" }

            #expect(code("<defs><rect id='g0'/>\(groups.joined())</defs><use href='#g10'/>") == nil)
            #expect(code("<defs><rect id='g0'/>\(groups.joined())</defs><use href='#g20'/>") == .exceedsLimit)
        }

        @Test(arguments: [
            "xlink:href='#g0' href='#g20'", "href='#g20' xlink:href='#g0'", "data-href='#g0' href='#g20'",
            "href='#g20' data-href='#g0'",
        ])
        func `the reference that is drawn is the one that is counted`(attributes: String) {
            let groups = (1...20).map { "<g id='g\($0)'><use href='#g\($0 - 1)'/><use href='#g\($0 - 1)'/></g>" }

            #expect(code("<defs><rect id='g0'/>\(groups.joined())</defs><use \(attributes)/>") == .exceedsLimit)
        }

        @Test func `an identifier with white space is counted`() {
            let groups = (1...20).map { "<g id='g \($0)'><use href='#g \($0 - 1)'/><use href='#g \($0 - 1)'/></g>" }

            #expect(code("<defs><rect id='g 0'/>\(groups.joined())</defs><use href='#g 20'/>") == .exceedsLimit)
        }

        @Test func `a long chain of references is refused`() {
            func chain(_ count: Int) -> String {
                let groups = (1...count).map { "<g id='g\($0)'><use href='#g\($0 - 1)'/></g>" }.joined()
                return "<defs><rect id='g0'/>\(groups)</defs><use href='#g\(count)'/>"
            }

            #expect(refusal(of: chain(400)) == nil)
            #expect(code(chain(600)) == .exceedsLimit)
        }

        @Test(arguments: [
            "<g id='a'><use href='#a'/></g>", "<mask id='a' mask='url(#a)'/><g mask='url(#a)'/>",
            "<pattern id='a' width='9' height='9'><rect width='9' height='9' fill='url(#a)'/></pattern>"
                + "<rect fill='url(#a)'/>",
            "<clipPath id='a' clip-path='url(#b)'/><clipPath id='b' clip-path='url(#a)'/><g clip-path='url(#a)'/>",
            "<marker id='a'><path d='M0 0L1 1' marker-end='url(#a)'/></marker>"
                + "<path d='M0 0L1 1' marker-end='url(#a)'/>",
        ])
        func `references in a cycle end`(content: String) {
            #expect(code(content) == nil)
        }

        @Test func `more references in style sheets than the limit are refused`() {
            func style(_ count: Int) -> String {
                "<style>\(String(repeating: ".a{marker:url(#m)}", count: count))</style>"
            }
            func elements(_ count: Int) -> String { String(repeating: "<g class='a'/>", count: count) }
            let names = (0..<6).map { "url(#m\($0))" }.joined(separator: " ")
            let long = String(repeating: ".a{marker:\(names)}", count: 17_000)

            #expect(code(style(1_500) + elements(1_300), by: patient) == nil)
            #expect(code(style(1_500) + elements(1_400)) == .exceedsLimit)
            #expect(code("<style>\(long)</style>") == .exceedsLimit)
            // A class that is repeated counts once.
            #expect(code(style(3_000) + "<g class='\(String(repeating: "a ", count: 1_000))'/>") == nil)
        }

        @Test func `patterns of more memory than the limit are refused`() {
            func pattern(_ attributes: String, _ shape: String) -> String {
                "<pattern id='p' \(attributes)><rect width='9' height='9'/></pattern>\(shape)"
            }
            let user = "patternUnits='userSpaceOnUse'"
            let small = "<rect width='64' height='64' fill='url(#p)'/>"

            #expect(code(pattern("\(user) width='64' height='64'", small)) == nil)
            #expect(code(pattern("width='1' height='1'", small)) == nil)
            #expect(code(pattern("width='100%' height='100%'", small)) == nil)
            #expect(code(pattern("\(user) width='20000' height='20000'", small)) == .exceedsLimit)
            #expect(
                code(pattern("\(user) width='64' height='64' patternTransform='scale(500)'", small)) == .exceedsLimit)
            #expect(
                code(pattern("width='1' height='1'", "<g transform='matrix(500 0 0 500 0 0)'>\(small)</g>"))
                    == .exceedsLimit)
            #expect(
                code(pattern("width='1' height='1'", "<path d='M0 0l30000 0 0 30000z' style='fill:url(#p)'/>"))
                    == .exceedsLimit)
            let heir = "<pattern id='q' href='#p'/>" + small.replacing("#p", with: "#q")
            #expect(code(pattern("\(user) width='64' height='64'", heir)) == nil)
            #expect(code(pattern("\(user) width='20000' height='20000'", heir)) == .exceedsLimit)
            #expect(
                code(pattern("\(user) width='64' height='64' patternTransform='scale(500)'", heir)) == .exceedsLimit)
            let wide = heir.replacing("href", with: "width='20000' href")
            #expect(code(pattern("\(user) height='64'", wide)) == nil)
            #expect(code(pattern("\(user) height='20000'", wide)) == .exceedsLimit)
            let symbol = "<symbol id='s' viewBox='0 0 .01 .01'>\(small)</symbol><use href='#s'"
            #expect(code(pattern("width='1' height='1'", symbol + "/>")) == .exceedsLimit)
            #expect(code(pattern("width='1' height='1'", symbol + " width='.01' height='.01'/>")) == nil)
            let rule = "<style>.a { fill: url(#p) }</style><rect class='b a' width='30000' height='30000'/>"
            #expect(code(pattern("width='1' height='1'", rule)) == .exceedsLimit)
            #expect(code(pattern("width='1' height='1'", rule.replacing("b a", with: "b"))) == nil)
        }

        @Test func `an embedded document counts as nested in the document around it`() {
            func embedded(_ depth: Int) -> String {
                let groups = (1...depth).map { "<g id='g\($0)'><use href='#g\($0 - 1)'/></g>" }.joined()
                let inner = document("<defs><rect id='g0'/>\(groups)</defs><use href='#g\(depth)'/>")
                return "<image href='data:;base64,\(inner.base64EncodedString())'/>"
            }

            #expect(refusal(of: embedded(400)) == nil)
            #expect(code(nested(240, "<g>", "</g>", embedded(400))) == .exceedsLimit)
        }

        @Test func `more nested layers than the memory holds are refused`() {
            let layers = nested(40, "<g opacity='.5'>", "</g>")
            let rule = "<style>g { opacity: .5 }</style>" + nested(40, "<g>", "</g>")

            #expect(code(layers, by: patient) == nil)
            #expect(code(layers, side: 2_000, by: patient) == .exceedsLimit)
            #expect(code(layers.replacing(".5", with: "1"), side: 2_000, by: patient) == nil)
            #expect(code(rule, side: 2_000, by: patient) == .exceedsLimit)
            #expect(code(rule.replacing(".5", with: "1"), side: 2_000, by: patient) == nil)
        }

        @Test(arguments: ["<g opacity='inherit'>", "<g style='opacity: Inherit'>"])
        func `layers that inherit their opacity count`(open: String) {
            let layers = "<g opacity='.5'>" + nested(40, open, "</g>") + "</g>"

            #expect(code(layers, side: 2_000, by: patient) == .exceedsLimit)
            #expect(code(layers.replacing("nherit", with: "nitial"), side: 2_000, by: patient) == nil)
        }

        @Test func `more dashes than the limit are refused`() {
            let path = "<path d='M0 0h1000000' stroke='red' stroke-dasharray='5 2'/>"

            #expect(code(path) == nil)
            #expect(code(path.replacing("5 2", with: ".2 .1")) == .exceedsLimit)
            #expect(
                code("<g style='stroke-dasharray:.2 .1'>\(path.replacing("5 2", with: "none"))</g>") == .exceedsLimit)
        }

        @Test func `embedded images larger than the limits are refused`() throws {
            var png = try #require(Data(base64Encoded: SampleDocument.bluePNG))
            png[16] = 0x7F
            let jpeg = Data(
                [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC0, 0, 17, 8, 0xFF, 0xFF, 0xFF, 0xFF, 3]
                    + [UInt8](repeating: 0, count: 20))
            let svg = document("", attributes: #"width="60000" height="60000""#)
            for data in [png, jpeg, svg] {
                #expect(code("<image href='data:;base64,\(data.base64EncodedString())'/>") == .exceedsLimit)
            }
        }

        @Test func `sizes over the limits are refused before drawing`() {
            for (attributes, side) in [
                ("width='30000' height='30000'", nil), ("width='1e8' height='1e8'", nil),
                ("width='40000' height='1'", nil),
                ("width='9' height='9'", 20_000),
            ] as [(String, Int?)] {
                let target = side.map { TargetSize(width: $0, height: $0) }
                let data = document("", attributes: attributes)
                #expect(decoder.errorCode(data, options: DecodingOptions(target: target)) == .exceedsLimit)
            }
            let large = document("", attributes: "width='30000' height='30000'")
            let options = DecodingOptions(target: TargetSize(width: 30, height: 30))
            #expect(decoder.errorCode(large, options: options) == nil)
        }

        @Test func `a document that would take much longer than the time limit is not drawn`() {
            let text = "<text>\(String(repeating: "abcdefghi ", count: 9_000))</text>"
            let filter = """
                <filter id="f">\(String(repeating: "<feConvolveMatrix order='20'/>", count: 30))</filter>
                \(cover(#"filter="url(#f)""#))
                """

            #expect(code(text) == .exceedsLimit)
            #expect(code(filter) == nil)
            #expect(code(filter, side: 2_000) == .exceedsLimit)
        }

        @Test(arguments: [false, true])
        func `drawing ends at the time limit, and later drawings are not affected`(isEmbedded: Bool) throws {
            // More crossings would be refused before the document is drawn.
            let lines = (0..<400).map { "L\($0 * 37 % 1000),1000 \($0 * 7 % 1000),0" }.joined()
            let path = document("<path d='M0,0\(lines)'/>", attributes: "width='1000' height='1000'")
            let embedding = "<image width='9' height='9' href='data:;base64,\(path.base64EncodedString())'/>"
            let slow = isEmbedded ? document(embedding) : path
            let impatient = SVGDecoder(timeLimit: .milliseconds(50))
            for _ in 0..<3 {
                let start = ContinuousClock.now
                #expect(impatient.errorCode(slow) == .timedOut)
                #expect(start.duration(to: .now) < .seconds(20))
            }

            let image = try SVGDecoder(timeLimit: .seconds(200)).decode(
                SampleDocument.utf16.data, options: DecodingOptions())

            #expect(image.pixels.rgba(9, 9) == [0, 0, 128, 255])
        }

        @Test(arguments: [("20", true), ("21", false), ("1 401", false), ("400 1", true)])
        func `a convolution with a larger matrix than librsvg supports is refused`(order: String, isDrawn: Bool) {
            let numbers = order.split(separator: " ").compactMap { Int($0) }
            let matrix = String(repeating: "1 ", count: numbers[0] * (numbers.count == 2 ? numbers[1] : numbers[0]))
            let filter = "<feConvolveMatrix order='\(order)' kernelMatrix='\(matrix)'/>"

            #expect(refusal(of: "<filter id='f'>\(filter)</filter>") == (isDrawn ? nil : .exceedsLimit))
        }

        @Test(arguments: [
            ("x='1e9'", false), ("y='-1e9' height='5'", false), ("x='1e30%'", false), ("x='-1e9' width='2e9'", true),
            ("x='-10000' y='-10000' width='1e6' height='1e6'", true),
        ])
        func `a filter primitive far outside of the document is refused`(region: String, isDrawn: Bool) {
            let content = "<filter id='f'><feOffset \(region)/></filter>\(cover(#"filter="url(#f)""#))"

            #expect(code(content) == (isDrawn ? nil : .exceedsLimit))
        }

        /// librsvg 2.54 panics when `feTile` repeats an empty region. Whether the region of an element is empty may
        /// depend on its transforms, so the sanitizer refuses only some of these documents.
        @Test(arguments: [
            "<filter id='f'><feFlood x='99' width='1'/><feTile/></filter><rect width='9' height='9' filter='url(#f)'/>",
            "<filter id='f'><feFlood width='0'/><feTile/></filter><rect width='9' height='9' filter='url(#f)'/>",
            "<filter id='f'><feFlood/><feTile/></filter><rect x='999' width='9' height='9' filter='url(#f)'/>",
            """
            <filter id='f' primitiveUnits='objectBoundingBox'><feFlood x='5' width='.1'/><feTile/></filter>
            <rect width='9' height='9' style='filter:url(#f)'/>
            """,
            """
            <filter id='f' y='1' height='0'><feTile x='1e5' width='10' result='b'/>
            <feBlend in='b' in2='BackgroundImage'/></filter><text y='9' filter='url(#f)'>a</text>
            """,
        ])
        func `a panic of librsvg is an error of its document, also twice on one thread`(content: String) throws {
            for _ in 0..<3 {
                #expect([nil, .decoderFailed, .exceedsLimit, .unsupportedVariant].contains(code(content)))
            }

            let image = try decoder.decode(document("<rect width='9' height='9'/>"), options: DecodingOptions())

            #expect(image.pixels.rgba(4, 4) == [0, 0, 0, 255])
        }

        /// Returns the drawing of a document of 64 pixels, scaled to another side.
        private func drawing(_ content: String, side: Int) throws -> SVGDrawing {
            let document = try document(content).withUnsafeBytes { bytes in
                try SVGDocument(bytes.bindMemory(to: UInt8.self), limits: DecodingLimits())
            }
            return SVGDrawing(document, target: TargetSize(width: side, height: side))
        }

        /// Returns whether the document is drawn by the calling thread, without the time limit.
        private func isLight(_ content: String, side: Int = 64) throws -> Bool {
            try drawing(content, side: side).isLight(.seconds(10))
        }

        /// Returns whether the estimated time is much longer than the default time limit.
        private func isTooSlow(_ content: String, side: Int = 4_096) throws -> Bool {
            let drawing = try drawing(content, side: side)
            do throws(ImageDecodingError) {
                try drawing.check(DecodingLimits(), timeLimit: .seconds(10))
                return false
            } catch {
                #expect(error.message.contains("would take much longer"), "\(error)")
                return true
            }
        }

        private func gradient(_ stopCount: Int) -> String {
            let stops = (0..<stopCount).map { "<stop offset='.\($0)'/>" }.joined()
            return "<linearGradient id='a'>\(stops)</linearGradient><radialGradient id='b' href='#a'/>"
        }

        @Test(arguments: ["#a", "#b"]) func `stops of gradients count for each shape`(name: String) throws {
            let rect = cover("fill='url(\(name))'")

            #expect(try isLight(gradient(5) + rect))
            #expect(try !isLight(gradient(20_000) + rect))
            #expect(try !isLight(gradient(5) + rect, side: 2_000))
            #expect(code(gradient(2_000) + rect, by: patient) == nil)
            #expect(code(gradient(20_000) + String(repeating: rect, count: 200)) == .exceedsLimit)
            #expect(code(gradient(20_000) + "<g fill='url(\(name))'>\(nested(200, "<g/>", ""))</g>") == .exceedsLimit)
        }

        @Test(arguments: [
            "a ~ g", "g:nth-child(2)", "g:Nth-Last-Child(2)", "g:nth\\-child(2)", "g:first-of-type", "g:not(a~g)",
            "b, g:only-of-type", "svg g:nth-of-type(2n + 1)",
        ])
        func `selectors that visit all siblings count for each pair`(selector: String) throws {
            let content = "<style>\(selector){fill:red}</style>" + String(repeating: "<g/>", count: 50_000)

            #expect(code(content) == .exceedsLimit)
            #expect(try isLight(content.replacing(String(repeating: "<g/>", count: 49_900), with: "")))
        }

        @Test(arguments: ["a + g", "g:first-child", "g[id='~']", "svg > g", "g:hover, #a.b"])
        func `other selectors count for each element`(selector: String) throws {
            let content = "<style>\(selector){fill:red}</style>" + String(repeating: "<g/>", count: 50_000)

            #expect(code(content, by: patient) == nil)
        }

        @Test func `selectors that visit siblings for each sibling are refused for fewer elements`() {
            let elements = String(repeating: "<g/>", count: 3_000)
            let nested = "g:not(a:not(b:not(c:not(d))))"

            #expect(code("<style>g:not(a ~ b){fill:red}</style>\(elements)", by: patient) == nil)
            #expect(code("<style>g:nth-child(2) ~ g{fill:red}</style>\(elements)") == .exceedsLimit)
            #expect(code("<style>g:not(a ~ g:not(b ~ g)){fill:red}</style>\(elements)") == .exceedsLimit)
            #expect(refusal(of: "<style>\(nested){fill:red}</style>") == .exceedsLimit)
        }

        @Test func `long selectors, classes and attributes count`() {
            func elements(_ count: Int, _ attributes: String) -> String {
                String(repeating: "<g \(attributes)/>", count: count)
            }
            let long = String(repeating: ".a", count: 20_000)
            let names = String(repeating: String(repeating: "b", count: 1_000) + " ", count: 1_000)
            let classes = String(repeating: ".a", count: 100_000)
            let parts = String(repeating: "[id*=ab]", count: 100_000)

            #expect(code("<style>\(long){fill:red}</style>" + elements(50_000, "class='a'")) == .exceedsLimit)
            #expect(code("<style>\(classes){fill:red}</style>" + elements(1, "class='\(names)'")) == .exceedsLimit)
            #expect(code("<style>\(parts){fill:red}</style>" + elements(1, "id='\(names)'")) == .exceedsLimit)
            let ancestors = "<style>a\(String(repeating: ">g", count: 5_000)) g{x:y}</style>"
            #expect(code(ancestors + nested(240, "<g>", "</g>", elements(4_000, ""))) == .exceedsLimit)
        }

        @Test func `declarations count for each element to which they may apply`() {
            func content(_ name: String) -> String {
                let rule = String(repeating: "fill:red;", count: 20_000)
                return "<style>.a{\(rule)}</style>" + String(repeating: "<g class='\(name)'/>", count: 50_000)
            }

            #expect(code(content("a")) == .exceedsLimit)
            #expect(code(content("b"), by: patient) == nil)
        }

        @Test(arguments: [
            ("stroke-dasharray", "1 "), ("filter", "blur(1) "), ("font-family", "a"), ("fill", "url(#a) "),
        ])
        func `long properties take memory for each element`(name: String, part: String) {
            let value = String(repeating: part, count: 40_000)
            func elements(_ count: Int) -> String { String(repeating: "<g/>", count: count) }

            for open in ["<style>g{\(name):\(value)}</style><g>", "<g \(name)='\(value)'>"] {
                let isInherited = name != "filter" || open.hasPrefix("<style>")
                #expect(refusal(of: open + elements(10) + "</g>") == nil)
                let data = document(open + elements(10_000) + "</g>")
                if isInherited { #expect(decoder.errorCode(data) == .exceedsLimit) }
            }
        }

        @Test func `the lines of strokes take memory`() throws {
            func byteCount(_ attributes: String) throws -> Int {
                let data = document("<path \(attributes) d='M0 0\(String(repeating: "l1 2", count: 10_000))'/>")
                return try decoder.decodingByteCount(data, options: DecodingOptions())
            }
            let filled = try byteCount("")

            #expect(try byteCount("stroke='none'") < filled + 1_000)
            #expect(try byteCount("stroke='red'") > filled + 3_900_000)
            #expect(try byteCount("style='stroke:red;stroke-linejoin:round'") > filled + 9_000_000)
            #expect(
                try byteCount("stroke='red' stroke-linejoin='round' stroke-width='1e4'") > filled + 100_000_000)
            #expect(try byteCount("stroke='red' stroke-dasharray='.1 .1'") > filled + 20_000_000)
            for width in ["stroke-width='1e4/* wide */'", "style='stroke-width:1e4 !Important'"] {
                #expect(try byteCount("stroke='red' stroke-linejoin='round' \(width)") > filled + 100_000_000)
            }
        }

        @Test func `curves far outside are drawn as many lines`() {
            func path(_ count: Int) -> String {
                "<path d='M0 0\(String(repeating: "c1e6 1e6 -1e6 1e6 0 0", count: count))'/>"
            }
            let circles = String(repeating: "<circle r='1e7'/>", count: 20_000)

            #expect(code(path(16), by: patient) == nil)
            #expect(code(path(16).replacing("1e6", with: "1e300"), by: patient) == nil)
            #expect(code(path(4_000)) == .exceedsLimit)
            #expect(code("<g transform='scale(1e-6)'>\(path(4_000))</g>", by: patient) == nil)
            #expect(code(circles) == .exceedsLimit)
            #expect(code(circles.replacing("1e7", with: "5"), by: patient) == nil)
        }

        @Test(arguments: ["filter='url(#b)'", "mask='url(#m)'", "filter='url(#f)'"])
        func `surfaces that feImage enlarges count`(attribute: String) {
            let content = """
                <filter id='f'><feImage href='#r'/></filter><filter id='b'><feGaussianBlur stdDeviation='1'/></filter>
                <mask id='m'><rect width='9' height='9' fill='white'/></mask><rect id='r' width='9' height='9' X/>
                <rect width='30' height='30' filter='url(#f)'/>
                """

            #expect(code(content.replacing("X", with: attribute)) == nil)
            #expect(code(content.replacing("X", with: attribute), side: 1_000) == .exceedsLimit)
            #expect(code(content.replacing("X", with: "fill='red'"), side: 1_000, by: patient) == nil)
        }

        /// Returns content that is drawn 40 times as often as the count, without so many elements.
        private func uses(_ count: Int, of content: String) -> String {
            let group = "<g id='uses'>\(String(repeating: content, count: 40))</g>"
            return "<defs>\(group)</defs>" + String(repeating: "<use href='#uses'/>", count: count)
        }

        @Test(arguments: [
            "<rect width='64' height='64'/>", "<path d='M0 0h64v64H0z'/>", "<path d='M0 0C64 0 64 64 0 64'/>",
            "<circle r='64'/>", "<rect width='1' height='1' transform='scale(64)'/>",
            "<rect width='1' height='1' style='width:64px!important;height:64px!important'/>",
            "<rect width='100%' height='100%'/>", "<rect width='4em' height='4em'/>",
            "<rect width='64/**/' height='64/**/px'/>", "<rect width='1' height='1' style='height:64px' />",
            "<line x2='64' stroke='red' stroke-width='64'/>", "<path d='M9 9h1' stroke='red' stroke-width='1000'/>",
            "<path d='M0 9H64' style='stroke:red;stroke-width:9em'/>",
            "<path d='M9 9h1h-1' stroke='red' stroke-miterlimit='1e6'/>",
            "<text font-size='64'>a</text>", "<text font-size='200%'><tspan font-size='2em'>a</tspan></text>",
            "<text style='font:64px serif'>a</text>",
            "<svg viewBox='0 0 1 1' width='64' height='64'><rect width='1' height='1'/></svg>",
            "<symbol id='s' viewBox='0 0 1 1'><rect width='1' height='1'/></symbol><use href='#s'/>",
            """
            <g transform='scale(.01)'><svg width='6400' height='6400' viewBox='0 0 6400 6400'>
            <svg width='100%' height='100%' viewBox='0 0 1 1'><rect width='1' height='1'/></svg></svg></g>
            """,
            """
            <symbol id='s' viewBox='0 0 1 1'><rect width='1' height='1'/></symbol><g transform='scale(.01)'>
            <svg width='6400' height='6400' viewBox='0 0 6400 6400'><use href='#s'/></svg></g>
            """,
            """
            <symbol id='s' viewBox='0 0 1 1'><rect width='1' height='1'/></symbol>
            <use style='width:64px;height:64px' width='1' height='1' href='#s'/>
            """,
            """
            <marker id='m'><rect width='3' height='3'/></marker>
            <path d='M9 9' stroke-width='64' marker-end='url(#m)'/>
            """,
        ])
        func `many shapes over the whole image are refused at a large size`(shape: String) throws {
            #expect(try isTooSlow(uses(1_000, of: shape)))
            #expect(try !isTooSlow(uses(1_000, of: shape), side: 64))
            #expect(try !isTooSlow(uses(10, of: shape)))
        }

        @Test(arguments: [
            "<rect width='64' height='64' fill='url(#a)'/>", "<rect width='64' height='64' fill='url(#p)'/>",
            "<image width='64' height='64' href='data:;base64,\(SampleDocument.bluePNG)'/>",
            "<image href='data:;base64,\(SampleDocument.bluePNG)'/>",
        ])
        func `gradients, patterns and images take longer than a color`(shape: String) throws {
            let tile = "<pattern id='p' patternUnits='userSpaceOnUse' width='9' height='9'><path d='M0 0h1'/></pattern>"
            let definitions = gradient(2) + tile

            #expect(try isTooSlow(definitions + uses(100, of: shape)))
            #expect(try !isTooSlow(uses(100, of: "<rect width='64' height='64'/>")))
            #expect(try !isTooSlow(definitions + uses(100, of: shape), side: 64))
        }

        @Test func `the content of a large tile counts also for a small image`() throws {
            func pattern(_ side: Int) -> String {
                let content = String(repeating: "<rect width='9' height='9'/>", count: 20_000)
                let tile = "patternUnits='userSpaceOnUse' width='\(side)' height='\(side)'"
                return "<pattern id='p' \(tile)>\(content)</pattern>" + cover("fill='url(#p)'")
            }

            #expect(try isTooSlow(pattern(5_000), side: 64))
            #expect(try !isTooSlow(pattern(64), side: 64))
        }

        @Test(arguments: [
            ("a map", "<path d='M9 9l.3 .2 -.1 .4z'/>", 2_000),
            ("a drawing of lines", "<path d='M0 0L64 64' fill='none' stroke='red' stroke-width='.05'/>", 250),
            ("layers", "<rect width='64' height='64'/>", 15),
            ("text", "<text font-size='2'>some words</text>", 10),
            ("icons", "<svg width='1' height='1' viewBox='0 0 2 2'><path d='M0 0h2v2z'/></svg>", 250),
        ])
        func `ordinary documents are drawn at a large size, also beside a shape far outside`(
            name: String, shape: String, count: Int
        ) throws {
            #expect(try !isTooSlow("<rect width='60000' height='60000'/>" + uses(count, of: shape)))
        }

        @Test func `an icon is drawn by the calling thread`() throws {
            #expect(try isLight(uses(1, of: "<path d='M0 0h64v64H0z' stroke='red' stroke-width='2'/>")))
        }

        @Test func `a pattern is drawn by the calling thread only over a small area`() throws {
            let tile = "<pattern id='p' patternUnits='userSpaceOnUse' width='9' height='9'><circle r='9'/></pattern>"

            #expect(try isLight(tile + cover("fill='url(#p)'")))
            #expect(try !isLight(tile + cover("fill='url(#p)'"), side: 2_000))
        }

        @Test func `the view box of the root element enlarges the tiles of patterns once`() {
            let content = """
                <pattern id='p' patternUnits='userSpaceOnUse' width='5' height='5'><path d='M0 0h3v3z'/></pattern>
                <rect width='9' height='9' fill='url(#p)'/>
                """
            let cases: [(side: Int, code: ImageDecodingError.Code?)] = [(1_000, nil), (30_000, .exceedsLimit)]
            for (side, code) in cases {
                let data = document(content, attributes: "width='\(side)' height='9' viewBox='0 0 10 10'")
                #expect(decoder.errorCode(data) == code)
            }
        }

        @Test func `fonts that differ count`() {
            func texts(_ count: Int, _ attribute: (Int) -> String) -> String {
                (0..<count).map { "<text \(attribute($0))>a</text>" }.joined()
            }

            #expect(code(texts(20) { "font-size='\(10 + $0)'" }, by: patient) == nil)
            #expect(code(texts(14_000) { "font-size='\($0)'" }) == .exceedsLimit)
            let pairs = texts(14_000) { "font-size='\($0 % 120)' style='font-family:f\($0 / 120)'" }
            #expect(code(pairs) == .exceedsLimit)
            #expect(code(texts(14_000) { _ in "font-size='1.01em'" }) == .exceedsLimit)
        }

        @Test func `a clipping path counts for each shape`() {
            func clipped(_ count: Int) -> String {
                let shapes = String(repeating: "<circle r='40'/>", count: count)
                return "<clipPath id='c'>\(scribble(2_000))</clipPath><g clip-path='url(#c)'>\(shapes)</g>"
            }

            #expect(code(clipped(1), by: patient) == nil)
            #expect(code(clipped(2_000)) == .exceedsLimit)
        }

        @Test func `a transform that does not apply hides no other`() {
            let pattern = """
                <pattern id='p' patternUnits='userSpaceOnUse' width='20000' height='20000'><rect width='9' height='9'/>
                </pattern><g transform='scale(.0001)'><rect width='9' height='9' fill='url(#p)'/></g>
                """

            #expect(code(pattern) == nil)
            #expect(code(pattern.replacing("<g ", with: "<g style='transform:none' ")) == .exceedsLimit)
            let rule = "<style>a g{transform:scale(.0001)}</style>"
            #expect(code(rule + pattern.replacing(" transform='scale(.0001)'", with: "")) == .exceedsLimit)
        }

        @Test(arguments: [
            (UInt8(0), 100, true), (0, 101, false), (19, 42, true), (19, 43, false), (19, 20, true),
        ])
        func `embedded JPEG with more scans than the limit are refused`(side: UInt8, scans: Int, isDrawn: Bool) {
            // The side is 8 or 5,000.
            let bytes: [UInt8] = side == 0 ? [0, 8] : [side, 136]
            var jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC2, 0, 11, 8] + bytes + bytes + [1, 1, 0x11, 0]
            for _ in 0..<scans { jpeg += [0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 1, 0, 0x3F, 0xFF, 0, 0xFF, 0xD0, 0x55] }
            let url = "data:image/jpeg;base64,\(Data(jpeg + [0xFF, 0xD9]).base64EncodedString())"

            #expect(refusal(of: "<image href='\(url)'/>") == (isDrawn ? nil : .exceedsLimit))
        }

        @Test func `text and other parts of an embedded PNG that are not drawn are left out`() throws {
            let png = try #require(Data(base64Encoded: SampleDocument.bluePNG))
            let text: [UInt8] = [0, 0, 0, 5] + Array("zTXta".utf8) + [0, 0, 1, 2, 9, 9, 9, 9]
            let changed = png.prefix(33) + text + png.dropFirst(33).dropLast(12) + text + png.suffix(12)
            let url = "data:;base64,\(changed.base64EncodedString())"

            let image = try #require(EmbeddedImage(url: Array(url.utf8)))

            #expect(image.bytes == png)
            #expect(EmbeddedImage(url: Array("data:;base64,\(changed.dropLast(20).base64EncodedString())".utf8)) != nil)
        }

        @Test(arguments: [
            ("", "x='.5'", true), ("", "x='1.2'", false), ("", "x='-.5' width='.3'", false),
            ("width='2'", "x='1.2'", true), ("", "y='200%' height='1'", false), ("x='2000'", "", false),
            ("y='-1e9' height='5'", "", false), ("width='-1'", "", false), ("height='0%'", "", false),
            ("filterUnits='userSpaceOnUse'", "x='999'", true),
        ])
        func `relative regions that are repeated must meet that of the filter`(
            filter: String, primitive: String, isDrawn: Bool
        ) {
            let attributes = "primitiveUnits='objectBoundingBox' \(filter)"
            let content = "<filter id='f' \(attributes)><feOffset \(primitive)/><feTile/></filter>"

            #expect((refusal(of: content) == nil) == isDrawn)
            #expect(refusal(of: content.replacing("<feTile/>", with: "")) == nil)
        }

        @Test(arguments: [("x='60'", true), ("x='70'", false), ("x='-10' width='5'", false)])
        func `regions in pixels that are repeated must meet that of the filter`(primitive: String, isDrawn: Bool) {
            let units = "filterUnits='userSpaceOnUse' x='0' width='64' primitiveUnits='userSpaceOnUse'"
            let content = "<filter id='f' \(units)><feFlood \(primitive)/><feTile/></filter>"

            #expect((refusal(of: content) == nil) == isDrawn)
        }

        /// Returns a path of lines between points that follow each other in no order.
        private func scribble(_ count: Int) -> String {
            let points = (0..<count).map { "\($0 &* 7919 % 1000),\($0 &* 104_729 % 997)" }
            return "<path fill-rule='evenodd' d='M\(points.joined(separator: "L"))'/>"
        }

        @Test func `an outline whose segments cross each other too often is not drawn`() {
            let attributes = "width='1000' height='1000'"
            let coast = (0..<100_000).map { "l\($0 * 7 % 5 - 2) \($0 % 50_000 < 25_000 ? 1 : -1)" }.joined()

            #expect(decoder.errorCode(document(scribble(100_000), attributes: attributes)) == .exceedsLimit)
            #expect(code("<path d='M0 0\(coast)'/>", by: patient) == nil)
        }

        @Test(arguments: ["M1e8 1e8", "L1e8 1e8", "M-1e9 5h1"])
        func `an outline that crosses itself too often is refused, whatever is far outside of it`(far: String) {
            let path = scribble(100_000).replacing("'/>", with: "\(far)'/>")

            #expect(code(path) == .exceedsLimit)
        }

        @Test func `waiting for documents over their time limit does not use up that of another one`() async throws {
            let slow = document(scribble(4_000), attributes: "width='1000' height='1000'")
            // Deep enough for a thread of its own.
            let quick = document(nested(40, "<g>", "</g>", "<rect width='9' height='9'/>"))
            let threads = BlockingExecutor(name: "drawings", maxConcurrent: 3)
            let impatient = SVGDecoder(timeLimit: .milliseconds(200))
            try await withThrowingTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        // A fast processor draws it in time.
                        let code = try await threads.run { impatient.errorCode(slow) }
                        #expect(code == nil || code == .timedOut)
                    }
                }
                try await group.waitForAll()
            }

            #expect(patient.errorCode(quick) == nil)
        }
    }
#endif
