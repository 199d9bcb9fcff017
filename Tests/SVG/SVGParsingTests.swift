#if SVG
    @testable import AlcedoSVG
    import Testing

    /// Tests of the readers of attributes and style sheets.
    @Suite struct SVGParsingTests {
        @Test(arguments: ["5rem", "5REM", "20Q", "1q"])
        func `units that librsvg does not have are valid only for sides of the root`(length: String) {
            let text = Array(length.utf8)[...]

            #expect(SVGLength(text)?.value == nil)
            #expect(SVGLength(text, isOfRoot: true)?.value ?? 0 > 0)
        }

        @Test(
            arguments: [
                ("1 2,3", [1, 2, 3]), ("-.5+.25", [-0.5, 0.25]), ("1e2 1E-2", [100, 0.01]), ("1.5.5", [1.5, 0.5]),
                ("3em", [3]), ("12.e1", [120]), ("x", []), ("-", []), (".", []), ("1e400", [.infinity]),
                ("0.1 123456789012345678901234567890", [0.1, 1.2345678901234568e29]), ("1e-400 0e999", [0, 0]),
            ] as [(String, [Double])])
        func `numbers are separated by anything that cannot continue them`(text: String, expected: [Double]) {
            var numbers = SVGNumbers(Array(text.utf8)[...])
            var values: [Double] = []
            while let value = numbers.next() { values.append(value) }

            #expect(values.count == expected.count)
            for (value, expected) in zip(values, expected) {
                #expect(value == expected || abs(value - expected) <= abs(expected) * 1e-15)
            }
        }

        @Test(
            arguments: [
                ("M0 0H10V5", 15, 50, 2), ("m1 1h3v4z", 12, 12, 3), ("M0 0 3 4", 5, 12, 1),
                ("M0,0l3,4,3,-4", 10, 24, 2),
                ("M0 0C0 3 4 3 4 0", 10, 12, 3), ("M0 0q2 0 2 2", 4, 4, 2), ("", 0, 0, 0), ("M5 5", 0, 0, 0),
                ("M0 0t3 4t3 4", 20, 100, 2), ("L", 0, 0, 0), ("M0 0 L1 x 9 9", 0, 0, 0), ("M0 0H2 5", 5, 0, 2),
            ] as [(String, Double, Double, Double)])
        func `a path has a length, an extent and segments`(
            data: String, length: Double, area: Double, segmentCount: Double
        ) {
            var stepCount = CrossingEstimate.maximumStepCount
            let measure = PathMeasure(Array(data.utf8)[...], stepCount: &stepCount)

            #expect(abs(measure.length - length) < 1e-9)
            #expect(measure.area == area)
            #expect(measure.segmentCount == segmentCount)
        }

        @Test(
            arguments: [
                ("M0 0L9 9", 0), ("M0 0L30 40M0 9L30 49", 0), ("M0 0H4V3z", 6), ("M1 1h9v9h-9", 81),
                ("M0 0h1000v1h-1000z", 1_000), ("M0 0L9 0C0 0 0 9 0 9z", 81), ("", 0),
            ] as [(String, Double)])
        func `a path fills at most the area between its lines`(data: String, area: Double) {
            var stepCount = CrossingEstimate.maximumStepCount

            #expect(PathMeasure(Array(data.utf8)[...], stepCount: &stepCount).filledArea == area)
        }

        @Test func `an arc counts at least its circle and the rectangle around it`() {
            var stepCount = CrossingEstimate.maximumStepCount
            let measure = PathMeasure(Array("M0 0a5 5 0 015 5".utf8)[...], stepCount: &stepCount)

            #expect(measure.length > 2 * .pi * 5)
            #expect(measure.area >= 100)
        }

        @Test(
            arguments: [
                ("scale(2)", 2), ("scale(2 -3)", 3), ("translate(9 9) rotate(30)", 1), ("matrix(3 4 0 0 9 9)", 5),
                ("scale(2) scale(.25)", 0.5), ("none", 1), ("scale(", 1),
            ] as [(String, Double)])
        func `the factor of a transform is an upper bound`(text: String, factor: Double) {
            #expect(abs(TransformScale(Array(text.utf8)[...]).factor - factor) < 1e-9)
        }

        @Test func `a skew enlarges by more than its tangent`() {
            #expect(TransformScale(Array("skewX(89)".utf8)[...]).factor > 57)
        }

        @Test(arguments: [
            ("a{b:c}/*d*/e{f:g}", "a{b:c}e{f:g}"), ("@media x { a { b: c } } d{e:f}", " d{e:f}"), ("@a 'b;c'; d", " d"),
            ("a{b:url( '#c' )}", "a{b:url(#c)}"), ("a{b:url(c)}", "a{b:url(#-)}"), ("a{b:url(#c d)}", "a{b:url(#-)}"),
            ("a{b:url(#c", "a{b:url(#c)"), ("a{b:'url(c)'}", "a{b:'url(c)'}"), ("/*a", ""), ("@a{b{c}", ""), ("\\", ""),
            ("a{b:\"c", "a{b:\"c\""), ("a\\:b{}", "a\\:b{}"), ("a\\62 {}", "a_2 {}"), ("uu url", "uu url"),
        ])
        func `a style sheet keeps only references to the document`(text: String, expected: String) {
            #expect(String(decoding: CSSText.sanitized(Array(text.utf8)[...]), as: UTF8.self) == expected)
        }

        @Test(arguments: [
            ("rect", true), (".a", true), ("g .a", true), ("g>#b", true), ("*", true), ("[id]", true),
            (".a:hover", true),
            ("rect.c", true), ("circle", false), (".c", false), ("#c", false), ("rect .c", false), ("g, rect", true),
        ])
        func `a rule counts for every element that it may match`(selector: String, isCounted: Bool) throws {
            var rules = DrawingRules()
            try rules.add(Array("\(selector) { opacity: .5 }".utf8), viewport: 1)
            var properties = DrawingProperties()

            rules.add(to: &properties, type: "rect", id: "b", classes: ["x", "a"])

            #expect((properties.surfaceCount > 0) == isCounted)
        }

        @Test(arguments: [
            "circle{x:'}';opacity:.5}", "circle{x:(});opacity:.5}", "circle{x:{};opacity:.5}",
            "circle{x:[}];opacity:.5;y:{z}}", "a[b='{']{}circle{opacity:.5}",
        ])
        func `declarations in a style sheet with other braces count for every element`(text: String) throws {
            var rules = DrawingRules()
            try rules.add(Array(text.utf8), viewport: 1)
            var properties = DrawingProperties()

            rules.add(to: &properties, type: "rect", id: nil, classes: [])

            #expect(properties.surfaceCount > 0)
        }

        @Test(arguments: [
            ("a{b:c}d{e:f", true), ("a{b:c}}d{e:f}", true), ("a[b]{c:d(e)}", true), ("a{b:'c'}", true),
            ("a\\){b:c}", true), ("a{b:'}'}", false), ("a{b:\"{\"}", false), ("a{b:(}", false), ("a{b:{c}}", false),
            ("a{b:([)]}", false), ("a({)", false),
        ])
        func `braces of rules are told from other braces`(text: String, isPlain: Bool) {
            #expect(CSSScanner.hasPlainBraces(Array(text.utf8)[...]) == isPlain)
        }
    }
#endif
