#if SVG
    import AlcedoCore

    /// The elements of a document in their order, and the references between them.
    struct DrawingGraph {
        private(set) var elements: [DrawingElement] = []
        private var openElements: [Int] = []
        private var indices: [String: Int] = [:]
        var rules = DrawingRules()
        /// The number of bytes of all attributes `style`.
        var styleByteCount = 0

        /// Adds an element inside the open one.
        mutating func open(_ element: DrawingElement) {
            if let id = element.id, indices[id] == nil { indices[id] = elements.count }
            openElements.append(elements.count)
            elements.append(element)
        }

        mutating func changeOpenElement(_ change: (inout DrawingElement) -> Void) {
            guard let index = openElements.last else { return }
            change(&elements[index])
        }

        mutating func close() {
            guard let index = openElements.popLast() else { return }
            elements[index].end = elements.count
        }

        /// Makes an element refer to none.
        mutating func removeReference(of index: Int) { elements[index].reference = nil }

        /// The index of the element with an identifier, or nil when there is none.
        func index(of id: String) -> Int? { indices[id] }

        /// Returns the cost of the root element. O(elements and references).
        ///
        /// References that form a cycle count once, because librsvg does not follow them again.
        ///
        /// - Throws: `exceedsLimit` for too many references.
        func cost() throws(ImageDecodingError) -> DrawingCost {
            guard !elements.isEmpty else { return DrawingCost() }
            var calculation = Calculation(graph: self, states: Array(repeating: .new, count: elements.count))
            var cost = try calculation.run()
            cost.time += rules.selectors.time(of: elements) + DrawingTime.loadedElement * Double(elements.count)
            cost.time += DrawingTime.styleByte * Double(rules.byteCount + styleByteCount)
            cost.time += DrawingTime.font * Double(fontCount)
            return cost
        }

        /// The number of different fonts that the texts of the document may have.
        private var fontCount: Int {
            let textCount = elements.count { $0.kind == .text }
            guard textCount > 0 else { return 0 }
            var values = rules.fonts
            for element in elements { values.formUnion(element.properties.fonts) }
            guard !values.contains(where: \.isRelative) else { return textCount }
            // Each property has an initial value as well.
            let counts = Dictionary(grouping: values, by: \.name).values.map { $0.count + 1 }
            return counts.reduce(1) { min(textCount, $0 * $1) }
        }

        /// The size of the largest font in pixels; infinity when it is unknown.
        fileprivate var fontSize: Double {
            var (size, factor) = (FontValue.largestKeyword, 1.0)
            for value in elements.flatMap(\.properties.fonts) + rules.fonts {
                guard value.isRelative else {
                    size = max(size, value.size)
                    continue
                }
                // Elements inside each other enlarge their fonts again, and a rule may apply to many elements.
                factor *= max(1, rules.fonts.contains(value) && value.size > 1 ? .infinity : value.size)
            }
            return size * factor
        }

        /// Calls `body` with the index of each child.
        fileprivate func forEachChild(of index: Int, _ body: (Int) -> Void) {
            var child = index + 1
            while child < elements[index].end {
                body(child)
                child = max(child + 1, elements[child].end)
            }
        }
    }

    /// The calculation of the costs: from the elements without content and references to the root, without recursion.
    private struct Calculation {
        enum State {
            case new
            /// The costs of its content and references are being calculated.
            case open
            case done
        }

        let graph: DrawingGraph
        var states: [State]
        private var costs: [DrawingCost] = []
        private var properties: [DrawingProperties] = []
        /// The tiles of patterns, with what they inherit.
        private var tiles: [Int: PatternTile] = [:]
        /// The numbers of stops of gradients, with those that they inherit.
        private var stopCounts: [Int: Double] = [:]
        /// The strokes of the document. Elements may inherit those of any other.
        private var strokes = DrawingCost.Outline()
        /// The width of the widest stroke, by which markers are enlarged, even if nothing is stroked.
        private var strokeWidth = 1.0
        /// The area of a join or cap of this stroke, and that of a character of the largest font.
        private var joinArea = 0.0
        private var hasRelativeStroke = false
        private var characterArea = 0.0
        private var edgeCount = 0

        private static let maximumEdgeCount = 2_000_000

        init(graph: DrawingGraph, states: [State]) {
            self.graph = graph
            self.states = states
        }

        mutating func run() throws(ImageDecodingError) -> DrawingCost {
            costs = Array(repeating: DrawingCost(), count: states.count)
            properties = graph.elements.map(\.properties)
            if !graph.rules.isEmpty {
                // Each element has a copy of the references in its rules, so they are counted before all copies exist.
                var referenceCount = 0
                for (index, element) in graph.elements.enumerated() {
                    graph.rules.add(
                        to: &properties[index], type: element.type, id: element.id, classes: element.classes)
                    referenceCount += properties[index].referenceCount
                    try Self.checkEdgeCount(referenceCount)
                }
            }
            try addInheritedEffects()
            let declarationCount = properties.reduce(0) { $0 + $1.declarationCount }
            strokeWidth = properties.reduce(1) { max($0, $1.strokeWidth) }
            if properties.contains(where: \.hasStroke) {
                strokes.strokeWidth = strokeWidth
                strokes.isRound = properties.contains(where: \.isRound)
            }
            joinArea = strokeWidth * strokeWidth * properties.reduce(4) { max($0, $1.miterLimit) } / 8
            hasRelativeStroke = properties.contains(where: \.hasRelativeStroke)
            let characterSide = graph.fontSize + 2 * (strokes.strokeWidth ?? 0)
            characterArea = characterSide * characterSide
            var pending = [0]
            while let index = pending.last {
                switch states[index] {
                case .new:
                    states[index] = .open
                    try appendContent(of: index, to: &pending)
                case .open:
                    costs[index] = cost(of: index)
                    if graph.elements[index].kind == .pattern { tiles[index] = tile(of: index) }
                    if graph.elements[index].isGradient { stopCounts[index] = stopCount(of: index) }
                    states[index] = .done
                    pending.removeLast()
                case .done: pending.removeLast()
                }
            }
            costs[0].time += DrawingTime.declaration * declarationCount
            costs[0].propertyByteCount = propertyByteCount
            return costs[0]
        }

        /// The bytes of long properties, which elements inherit from those around them.
        private var propertyByteCount: Double {
            guard properties.contains(where: { $0.byteCount > 0 }) else { return 0 }
            var (sum, open): (Double, [(end: Int, byteCount: Double)]) = (0, [])
            for index in properties.indices {
                while let last = open.last, last.end <= index { open.removeLast() }
                let byteCount = (open.last?.byteCount ?? 0) + properties[index].byteCount
                sum += byteCount
                open.append((graph.elements[index].end, byteCount))
            }
            return sum
        }

        /// Adds the effects of all elements to those that inherit some. An element can inherit from one that uses it.
        private mutating func addInheritedEffects() throws(ImageDecodingError) {
            let heirs = properties.indices.filter { properties[$0].inheritsEffects }
            guard !heirs.isEmpty else { return }
            let names = Array(Set(properties.flatMap(\.effects)))
            let surfaceCount = properties.reduce(0) { max($0, $1.surfaceCount) }
            let pixelTime = properties.reduce(0) { max($0, $1.pixelTime) }
            try Self.checkEdgeCount(heirs.count * names.count)
            for index in heirs {
                properties[index].effects += names
                properties[index].surfaceCount += surfaceCount
                properties[index].pixelTime += pixelTime
            }
        }

        private mutating func appendContent(of index: Int, to pending: inout [Int]) throws(ImageDecodingError) {
            let before = pending.count
            graph.forEachChild(of: index) { if states[$0] == .new { pending.append($0) } }
            func append(_ name: String) {
                if let target = graph.index(of: name), states[target] == .new { pending.append(target) }
                edgeCount += 1
            }
            for name in properties[index].effects { append(name) }
            for name in properties[index].paints { append(name) }
            for name in properties[index].markers { append(name) }
            if let reference = graph.elements[index].reference { append(reference) }
            edgeCount += pending.count - before
            try Self.checkEdgeCount(edgeCount)
        }

        private static func checkEdgeCount(_ count: Int) throws(ImageDecodingError) {
            guard count <= maximumEdgeCount else {
                throw ImageDecodingError(.exceedsLimit, "SVG: more than \(maximumEdgeCount) references")
            }
        }

        /// Returns the cost of the element with a name; nothing inside a cycle, or when there is none.
        private func cost(named name: String) -> (cost: DrawingCost, element: DrawingElement)? {
            guard let index = graph.index(of: name), states[index] == .done else { return nil }
            return (costs[index], graph.elements[index])
        }

        private func cost(of index: Int) -> DrawingCost {
            let element = graph.elements[index]
            let own = properties[index]
            var cost = DrawingCost()
            (cost.time, cost.elementCount) = (element.time, 1)
            (cost.area, cost.length) = (max(element.area, own.area), element.length)
            (cost.segmentCount, cost.imageByteCount) = (element.segmentCount, element.imageByteCount)
            cost.characterCount = element.characterCount
            cost.curveRoot = element.curveRoot
            if element.kind == .shape {
                cost.largest = strokes
                (cost.largest.length, cost.largest.curveRoot) = (element.length, element.curveRoot)
                cost.largest.segmentCount = element.segmentCount
            }
            addPaintedArea(of: element, own, to: &cost)
            cost.add(element.embedded)
            let isReferenced = !element.isDrawn
            graph.forEachChild(of: index) { child in
                let kind = graph.elements[child]
                // Definitions inside an element are drawn only where something refers to them.
                guard kind.isDrawn || isReferenced && kind.kind != .definition && kind.kind != .pattern else { return }
                cost.add(costs[child], scale: element.viewBoxScale)
            }
            addReference(of: element, to: &cost)
            if let length = own.dashLength {
                cost.dashCount += cost.length / length
                cost.largest.dashCount = max(cost.largest.dashCount, cost.largest.length / length)
            }
            addPaints(own, to: &cost)
            for name in own.markers {
                guard var marker = self.cost(named: name)?.cost else { continue }
                // The units of markers are widths of the stroke.
                marker.painted.enlarge(by: hasRelativeStroke ? .infinity : strokeWidth)
                marker.blended.enlarge(by: hasRelativeStroke ? .infinity : strokeWidth)
                cost.add(marker, count: max(1, cost.segmentCount + 1))
            }
            for name in own.effects {
                guard case (var effect, let referenced)? = self.cost(named: name) else { continue }
                if referenced.type == "clipPath" {
                    // cairo cuts each shape with the clipping path, which it does not paint.
                    cost.time += effect.time * cost.elementCount
                    (effect.painted, effect.blended) = (PaintedArea(), PaintedArea())
                } else {
                    // The content may have the units of a bounding box.
                    (effect.painted, effect.blended) = (effect.painted.covering, effect.blended.covering)
                }
                let surfaces = cost.surfaceCount + effect.surfaceCount
                cost.add(effect)
                cost.surfaceCount = surfaces
            }
            coverViewport(of: index, own, &cost)
            cost.surfaceCount += own.surfaceCount
            cost.pixelTime += own.pixelTime
            cost.scaledPixelTime += element.scaledPixelTime
            cost.area *= own.scale * own.scale
            cost.tileArea *= own.scale * own.scale
            cost.painted.enlarge(by: own.scale)
            cost.blended.enlarge(by: own.scale)
            // Infinity times zero is no number.
            let rootScale = max(1e-6, own.scale).squareRoot()
            cost.curveRoot *= rootScale
            cost.largest.curveRoot *= rootScale
            if let width = cost.largest.strokeWidth { cost.largest.strokeWidth = width * max(1, own.scale) }
            cost.depth += 1
            return cost
        }

        /// Adds the areas of a shape and of its stroke, of the characters of a text, or of an image.
        private func addPaintedArea(
            of element: DrawingElement, _ own: DrawingProperties, to cost: inout DrawingCost
        ) {
            // What a percentage or the size of a font refers to is not known.
            let isKnown = !own.hasPercentage && !own.usesFont
            switch element.kind {
            case .shape:
                cost.painted.add(
                    PaintedArea(of: isKnown ? max(element.filledArea, own.area) : .infinity, length: element.length))
                guard strokes.strokeWidth != nil else { return }
                let stroke = element.length * strokeWidth + (element.segmentCount + 1) * joinArea
                cost.painted.add(
                    PaintedArea(of: isKnown && !hasRelativeStroke ? stroke : .infinity, length: element.length))
            case .text: cost.painted.add(PaintedArea(of: characterArea, count: element.characterCount))
            case .image:
                let area = isKnown ? max(element.imageArea, own.area) : .infinity
                cost.blended.add(PaintedArea(of: area, count: DrawingTime.scaledImagePixel))
            default: break
            }
        }

        /// Makes the content of an element count as the whole image where the scale of the element is not known.
        private func coverViewport(of index: Int, _ own: DrawingProperties, _ cost: inout DrawingCost) {
            let element = graph.elements[index]
            let isViewport = element.type == "svg" || element.type == "symbol"
            guard index > 0, isViewport || element.kind == .container || element.kind == .use else { return }
            // Other than attributes, properties do not change the scale of the content in this estimate.
            if own.usesFont || own.area > 0 || isViewport && cost.hasRelativeViewport {
                (cost.painted, cost.blended) = (cost.painted.covering, cost.blended.covering)
            }
            if own.hasPercentage { cost.hasRelativeViewport = true }
        }

        /// The number of surfaces of a filter.
        private static let filterSurfaceCount = 5.0

        private func addReference(of element: DrawingElement, to cost: inout DrawingCost) {
            guard let name = element.reference else { return }
            guard let (target, referenced) = self.cost(named: name) else {
                // A filter of an element inside the filter, which librsvg draws once more.
                if element.type == "feImage", graph.index(of: name) != nil {
                    cost.enlargedSurfaceCount += Self.filterSurfaceCount
                }
                return
            }
            if element.type == "feImage" {
                // Inside each other, they enlarge surfaces again.
                cost.enlargedSurfaceCount = target.enlargedSurfaceCount > 0 ? .infinity : target.surfaceCount
                cost.scaledPixelTime += target.pixelTime
                if target.surfaceCount > 0 {
                    cost.scaledPixelTime += DrawingTime.paintedPixel * target.painted.count
                    cost.scaledPixelTime += target.blended.count
                }
            }
            var scale = 1.0
            if let inverse = referenced.inverseViewBoxSide {
                scale = (element.side ?? referenced.side ?? 1) * inverse
            } else if referenced.type == "svg", let side = element.side, let own = referenced.side, own > 0 {
                scale = side / own
            }
            cost.add(target, scale: max(1, scale))
            // A missing size is 100 %.
            let isViewport = referenced.type == "svg" || referenced.type == "symbol"
            if isViewport, element.side == nil { cost.hasRelativeViewport = true }
        }

        /// Returns the tile of a pattern. The pattern to which it refers has been calculated before.
        private func tile(of index: Int) -> PatternTile {
            var tile = graph.elements[index].tile
            tile.scale = properties[index].scale
            guard let name = graph.elements[index].reference, let target = graph.index(of: name),
                let inherited = tiles[target]
            else { return tile }
            return tile.inheriting(inherited)
        }

        /// Returns the number of stops of a gradient. The one to which it refers has been calculated before.
        private func stopCount(of index: Int) -> Double {
            var count = 0.0
            graph.forEachChild(of: index) { if graph.elements[$0].type == "stop" { count += 1 } }
            guard let name = graph.elements[index].reference, let target = graph.index(of: name) else { return count }
            return max(count, stopCounts[target] ?? 0)
        }

        /// The number of stops that take no longer than a few.
        private static let smallStopCount = 16.0

        /// Adds a gradient. cairo sorts its stops again for each shape, and looks for two of them at each pixel.
        private func addGradient(_ stopCount: Double, shapeCount: Double, to cost: inout DrawingCost) {
            cost.gradientCount += shapeCount
            cost.time += shapeCount * stopCount * stopCount * DrawingTime.squaredStop
            cost.pixelTime += shapeCount * max(0, stopCount - Self.smallStopCount) * DrawingTime.stop
        }

        /// Adds gradients and patterns, which are drawn for each shape in the element.
        private func addPaints(_ own: DrawingProperties, to cost: inout DrawingCost) {
            let (shapeCount, area, shapes) = (cost.elementCount, cost.area, cost.painted)
            for name in own.paints {
                if let index = graph.index(of: name), let stopCount = stopCounts[index] {
                    addGradient(stopCount, shapeCount: shapeCount, to: &cost)
                    cost.blended.add(shapes, count: DrawingTime.gradientPixel)
                }
                guard let pattern = self.cost(named: name)?.cost, let index = graph.index(of: name),
                    let tile = tiles[index]
                else { continue }
                var painted = pattern
                painted.surfaceCount += cost.surfaceCount
                let tileArea = tile.area(forShapeOf: area)
                painted.tileArea = cost.tileArea + pattern.tileArea + tileArea
                painted.painted = pattern.painted.inTile(of: tileArea)
                painted.blended = pattern.blended.inTile(of: tileArea)
                cost.add(painted, count: shapeCount)
                cost.blended.add(shapes, count: DrawingTime.patternPixel)
            }
        }
    }
#endif
