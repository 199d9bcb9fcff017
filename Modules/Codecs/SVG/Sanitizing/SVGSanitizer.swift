#if SVG
    import AlcedoCore
    import FoundationEssentials

    /// A writer of the part of a document that is drawn, without scripts and references to anything outside it.
    ///
    /// The elements that librsvg draws are kept, with their attributes. Links, event handlers, images other than
    /// embedded PNG, JPEG, GIF and SVG, and everything that is not SVG are left out. The written document has no
    /// document type declaration, entities, comments or processing instructions.
    struct SVGSanitizer: XMLHandler {
        private(set) var output = XMLOutput()
        private(set) var graph = DrawingGraph()
        /// The size of the root element, or nil before it begins.
        private(set) var size: SVGNaturalSize?
        /// The longer side of the view box of the root element.
        private(set) var viewport = 0.0
        /// The factor by which the view box of the root element enlarges the document.
        private(set) var viewBoxScale = 1.0
        let limits: DecodingLimits
        /// The number of documents around this one.
        let nesting: Int
        /// The declarations of style sheets for the root element.
        private let rootStyle: [UInt8]
        /// The work that embedded documents and the rest of this one may still take.
        var allowance: SVGAllowance
        private(set) var namespaces = SVGNamespaces()
        private var openNames: [String] = []
        /// The number of open elements inside one that is left out.
        private var droppedDepth = 0
        private var textDepth = 0
        private var characterCount = 0.0
        private var styleText: [UInt8]?
        /// The region of the last filter that began.
        private var filter: FilterRegion?
        /// The gradients and patterns that inherit from others, with the positions of their `href` in the output.
        private var heirs: [(index: Int, attribute: Range<Int>)] = []

        private static let maximumElementCount = 200_000

        /// Creates a writer.
        ///
        /// - Parameters:
        ///   - limits: The limits of embedded images.
        ///   - byteCount: The number of bytes of the document.
        ///   - rootStyle: The declarations of style sheets for the root element. Default: none.
        ///   - nesting: The number of documents around this one. Default: 0.
        ///   - allowance: The work that the document may take. Default: that of an outermost document.
        init(
            limits: DecodingLimits, byteCount: Int, rootStyle: [UInt8] = [], nesting: Int = 0,
            allowance: SVGAllowance = SVGAllowance()
        ) {
            self.limits = limits
            self.rootStyle = rootStyle
            self.nesting = nesting
            self.allowance = allowance
            output.reserve(byteCount + 512)
        }

        mutating func startElement(_ name: String, _ attributes: [XMLAttribute]) throws(ImageDecodingError) {
            namespaces.open(attributes)
            guard droppedDepth == 0 else {
                droppedDepth += 1
                return
            }
            let name = namespaces.svgName(name) ?? ""
            guard size != nil || name == "svg" else {
                throw ImageDecodingError(.corrupt, "SVG: the root element is not svg")
            }
            // The descriptions stay as empty elements, because rules can count siblings. In a switch, they would be
            // taken.
            let isDescription = name == "title" || name == "desc" || name == "metadata"
            guard let kind = DrawingElement.kinds[isDescription ? "title" : name],
                !isDescription || openNames.last != "switch"
            else {
                droppedDepth = 1
                return
            }
            guard graph.elements.count < Self.maximumElementCount else {
                throw ImageDecodingError(.exceedsLimit, "SVG: more than \(Self.maximumElementCount) elements")
            }
            let written = isDescription ? "title" : name
            try write(written, isDescription ? [] : kept(attributes, of: name), kind)
            openNames.append(written)
            if isDescription { droppedDepth = 1 }
            if kind == .text { textDepth += 1 }
            if name == "style" { styleText = [] }
        }

        mutating func characters(_ text: ArraySlice<UInt8>) throws(ImageDecodingError) {
            guard droppedDepth == 0 else { return }
            if styleText != nil {
                styleText? += text
            } else if textDepth > 0 {
                output.text(text)
                characterCount += Double(text.count)
                let count = Double(text.count)
                graph.changeOpenElement {
                    $0.time += count * DrawingTime.character
                    $0.characterCount += count
                }
            }
        }

        mutating func endElement() throws(ImageDecodingError) {
            namespaces.close()
            if droppedDepth > 0 {
                droppedDepth -= 1
                // A description ends with the element that it replaces.
                guard droppedDepth == 0, openNames.last == "title" else { return }
            }
            try closeElement()
        }

        /// Completes the document. Elements that are still open end here, so that the part of a document before an
        /// error can be drawn.
        mutating func finish() throws(ImageDecodingError) {
            droppedDepth = 0
            while !openNames.isEmpty { try closeElement() }
            for (index, attribute) in heirs where !inheritsValidly(index) {
                output.removeAttribute(at: attribute)
                graph.removeReference(of: index)
            }
        }

        /// The maximum length of a cycle of inheritance that is found.
        private static let maximumCycleLength = 100

        /// Returns whether a gradient or pattern inherits from one of its kind, and not from itself. librsvg would draw
        /// nothing instead of ignoring the reference.
        private func inheritsValidly(_ index: Int) -> Bool {
            func target(_ index: Int) -> Int? { graph.elements[index].reference.flatMap { graph.index(of: $0) } }
            func isPattern(_ index: Int) -> Bool { graph.elements[index].kind == .pattern }
            guard let first = target(index) else { return false }
            let isKnown = isPattern(first) || graph.elements[first].type.hasSuffix("Gradient")
            guard isKnown, isPattern(first) == isPattern(index) else { return false }
            var current = first
            for _ in 0..<Self.maximumCycleLength {
                guard current != index else { return false }
                guard let next = target(current) else { return true }
                current = next
            }
            return true
        }

        private mutating func closeElement() throws(ImageDecodingError) {
            guard let name = openNames.popLast() else { return }
            if name == "style", let text = styleText {
                styleText = nil
                let sanitized = CSSText.sanitized(text[...])
                output.text(sanitized[...])
                try graph.rules.add(sanitized, viewport: viewport)
            }
            if DrawingElement.kinds[name] == .text {
                textDepth -= 1
                if textDepth == 0 {
                    let time = characterCount * characterCount * DrawingTime.squaredCharacter
                    graph.changeOpenElement { $0.time += time }
                    characterCount = 0
                }
            }
            output.close(name)
            graph.close()
        }

        /// Writes a start tag, and records the element.
        private mutating func write(
            _ name: String, _ attributes: [XMLAttribute], _ kind: DrawingElement.Kind
        ) throws(ImageDecodingError) {
            var attributes = attributes
            output.open(name)
            if size == nil { try begin(&attributes) }
            var element = DrawingElement(kind, type: name)
            for index in attributes.indices.reversed() where Self.isReference(attributes[index].name) {
                guard try keepReference(&attributes[index], of: &element) else {
                    attributes.remove(at: index)
                    continue
                }
            }
            let isHeir = kind == .pattern || name.hasSuffix("Gradient")
            for attribute in attributes {
                let start = output.count
                if attribute.name == "style" { graph.styleByteCount += attribute.value.count }
                output.attribute(attribute.name, attribute.value)
                if isHeir, Self.isReference(attribute.name) {
                    heirs.append((graph.elements.count, start..<output.count))
                }
            }
            output.endTag()
            if kind == .filterPrimitive, attributes.contains(where: { $0.name == "result" }) {
                // A result with a name exists until the filter ends.
                graph.changeOpenElement { $0.properties.surfaceCount += 1 }
            }
            if name == "filter" { filter = FilterRegion(attributes, viewport: viewport) }
            if kind == .filterPrimitive { try filter?.check(attributes, of: name) }
            try element.read(attributes, viewport: viewport, stepCount: &allowance.stepCount)
            // The scale of the drawing includes that of the root element.
            if graph.elements.isEmpty { element.viewBoxScale = 1 }
            graph.open(element)
        }

        /// Gives the root element an absolute size and a view box.
        private mutating func begin(_ attributes: inout [XMLAttribute]) throws(ImageDecodingError) {
            func value(_ name: String) -> [UInt8]? { attributes.first { $0.name == name }?.value }
            let box = value("viewBox").flatMap { SVGViewBox($0[...]) }
            // The properties of a style take precedence over those of style sheets, and these over attributes, as in
            // browsers.
            var declarations = rootStyle
            if let style = attributes.firstIndex(where: { $0.name == "style" }) {
                declarations += attributes[style].value
                _ = SVGNaturalSize.removeSides(from: &attributes[style].value)
            }
            let sides = SVGNaturalSize.removeSides(from: &declarations)
            let size = try SVGNaturalSize(
                width: sides.width ?? value("width"), height: sides.height ?? value("height"), viewBox: box)
            self.size = size
            viewport = max(box?.width ?? size.width, box?.height ?? size.height)
            if let box, box.width > 0, box.height > 0 {
                viewBoxScale = max(size.width / box.width, size.height / box.height)
            }
            attributes.removeAll { ["width", "height"].contains($0.name) || $0.name == "viewBox" && box == nil }
            attributes.append(XMLAttribute(name: "width", value: Array("\(size.width)".utf8)))
            attributes.append(XMLAttribute(name: "height", value: Array("\(size.height)".utf8)))
            if box == nil {
                attributes.append(
                    XMLAttribute(name: "viewBox", value: Array("0 0 \(size.width) \(size.height)".utf8)))
            }
            output.attribute("xmlns", Array(SVGNamespaces.svg.utf8))
            output.attribute("xmlns:xlink", Array(SVGNamespaces.xlink.utf8))
        }
    }
#endif
