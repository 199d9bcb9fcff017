#if SVG
    import AlcedoCore

    /// The work of comparing the selectors of style sheets with the elements of a document.
    ///
    /// librsvg compares each selector with each element when it reads a document. A part such as `.a` takes constant
    /// time. `~` and `:nth-child()` visit the siblings of the element, and those of its ancestors when the selector has
    /// a part for an ancestor, so their number squares with the elements; inside `:not()`, it is cubed.
    struct SelectorWork {
        /// The elements that a selector visits for one element: powers of the number of siblings and of ancestors.
        fileprivate struct Reach: Hashable {
            var siblings = 0
            var ancestors = 0
        }

        /// The numbers of parts of the selectors.
        fileprivate struct Parts {
            var count = 0.0
            /// The parts that compare classes, and those that compare attributes.
            var classCount = 0.0
            var attributeCount = 0.0
        }

        private var parts: [Reach: Parts] = [:]

        /// The maximum number of functions inside each other, such as `:not()`.
        private static let maximumFunctionDepth = 3

        /// Adds the selectors of a rule, which commas separate. O(bytes).
        ///
        /// - Throws: `exceedsLimit` for functions that are nested too deeply.
        mutating func add(_ text: ArraySlice<UInt8>) throws(ImageDecodingError) {
            var selector = Selector()
            var scanner = CSSScanner(text)
            while let byte = scanner.peek {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    _ = scanner.string()
                    continue
                case UInt8(ascii: ",") where selector.levels.count == 1:
                    add(selector)
                    selector = Selector()
                case UInt8(ascii: "("):
                    guard selector.levels.count <= Self.maximumFunctionDepth else {
                        throw ImageDecodingError(
                            .exceedsLimit,
                            "SVG: more than \(Self.maximumFunctionDepth) functions inside each other in a selector")
                    }
                    selector.open()
                case UInt8(ascii: ")"): selector.close()
                default: selector.add(byte)
                }
                scanner.skip(1)
            }
            add(selector)
        }

        private mutating func add(_ selector: Selector) {
            var selector = selector
            selector.end()
            let level = selector.levels[0]
            guard selector.parts.count > 0 else { return }
            let reach = Reach(siblings: level.siblings, ancestors: level.ancestors)
            parts[reach, default: Parts()].count += selector.parts.count
            parts[reach, default: Parts()].classCount += selector.parts.classCount
            parts[reach, default: Parts()].attributeCount += selector.parts.attributeCount
        }

        /// Returns the estimated nanoseconds for the elements of a document. O(elements).
        func time(of elements: [DrawingElement]) -> Double {
            guard !parts.isEmpty else { return 0 }
            let classByteCount = elements.reduce(0) { $0 + $1.classByteCount }
            let attributeByteCount = elements.reduce(0) { $0 + $1.attributeByteCount }
            let longestClass = elements.reduce(0) { max($0, $1.classByteCount) }
            let longestAttributes = elements.reduce(0) { max($0, $1.attributeByteCount) }
            let places = parts.keys.contains { $0 != Reach() } ? Self.places(of: elements) : []
            return parts.reduce(0) { sum, entry in
                let (reach, parts) = entry
                let bytes = parts.classCount * classByteCount + parts.attributeCount * attributeByteCount
                let time =
                    DrawingTime.selector * parts.count * Double(elements.count) + DrawingTime.selectorByte * bytes
                guard reach != Reach() else { return sum + time }
                let stepCount = places.reduce(0) { count, place in
                    var product = 1.0
                    for _ in 0..<reach.siblings { product *= place.siblings }
                    for _ in 0..<reach.ancestors { product *= place.ancestors }
                    return count + product
                }
                let step =
                    DrawingTime.selectorStep * parts.count
                    + DrawingTime.selectorByte
                    * (parts.classCount * longestClass + parts.attributeCount * longestAttributes)
                return sum + time + step * stepCount
            }
        }

        /// Returns for each element the number of its ancestors, and of its siblings with those of its ancestors.
        private static func places(of elements: [DrawingElement]) -> [(siblings: Double, ancestors: Double)] {
            var childCounts = Array(repeating: 0.0, count: elements.count)
            var parents = Array(repeating: -1, count: elements.count)
            var open: [Int] = []
            for index in elements.indices {
                while let last = open.last, elements[last].end <= index { open.removeLast() }
                if let parent = open.last {
                    parents[index] = parent
                    childCounts[parent] += 1
                }
                open.append(index)
            }
            var places: [(siblings: Double, ancestors: Double)] = []
            places.reserveCapacity(elements.count)
            for parent in parents {
                let around = parent < 0 ? (siblings: 0, ancestors: 0) : places[parent]
                let siblings = parent < 0 ? 1 : childCounts[parent]
                places.append((around.siblings + siblings, around.ancestors + 1))
            }
            return places
        }

        /// A selector, as far as it has been read.
        private struct Selector {
            /// A selector, or the selectors in the parentheses of a function.
            struct Level {
                var hasSiblingStep = false
                var hasAncestorStep = false
                var countsSiblings = false
                /// The powers of the functions inside.
                var inner = Reach()
                /// Whether a part has been read since the last combinator.
                var hasPart = false
                /// Whether the content is that of `:nth-child()` or a similar function.
                var hasNoSelectors = false

                var siblings: Int { (hasSiblingStep ? 1 : 0) + max(countsSiblings ? 1 : 0, inner.siblings) }
                var ancestors: Int { (hasAncestorStep ? 1 : 0) + inner.ancestors }
            }

            private(set) var levels = [Level()]
            private(set) var parts = Parts()
            private var hasSpace = false
            private var isInBrackets = false
            private var isInName = false
            /// The name of a pseudo-class that has begun, in lower case and without backslashes.
            private var pseudoClass: [UInt8]?

            mutating func open() {
                let isNth = endName()
                levels.append(Level())
                levels[levels.count - 1].hasNoSelectors = isNth
                hasSpace = false
            }

            mutating func close() {
                endName()
                guard levels.count > 1, let level = levels.popLast() else { return }
                (hasSpace, isInBrackets) = (false, false)
                let last = levels.count - 1
                levels[last].inner.siblings = max(levels[last].inner.siblings, level.siblings)
                levels[last].inner.ancestors = max(levels[last].inner.ancestors, level.ancestors)
            }

            /// Ends the last name, and functions without a closing parenthesis.
            mutating func end() {
                while levels.count > 1 { close() }
                endName()
            }

            /// Adds a byte outside strings, other than parentheses.
            mutating func add(_ byte: UInt8) {
                let last = levels.count - 1
                guard !levels[last].hasNoSelectors else { return }
                guard !isInBrackets else {
                    isInBrackets = byte != UInt8(ascii: "]")
                    return
                }
                switch byte {
                case 0x09, 0x0A, 0x0C, 0x0D, 0x20:
                    endName()
                    hasSpace = true
                case UInt8(ascii: "~"), UInt8(ascii: ">"), UInt8(ascii: "+"), UInt8(ascii: ","):
                    endName()
                    if byte == UInt8(ascii: "~") { levels[last].hasSiblingStep = true }
                    if byte == UInt8(ascii: ">") { levels[last].hasAncestorStep = true }
                    levels[last].hasPart = false
                case UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "*"), UInt8(ascii: ":"):
                    endName()
                    beginPart(byte)
                case UInt8(ascii: "\\"): break
                default:
                    if !isInName { beginPart(byte) }
                    pseudoClass?.append(byte | 0x20)
                }
            }

            private mutating func beginPart(_ byte: UInt8) {
                let last = levels.count - 1
                if hasSpace, levels[last].hasPart { levels[last].hasAncestorStep = true }
                (hasSpace, levels[last].hasPart, isInName) = (false, true, true)
                parts.count += 1
                switch byte {
                case UInt8(ascii: "."): parts.classCount += 1
                case UInt8(ascii: "["):
                    parts.attributeCount += 1
                    isInBrackets = true
                case UInt8(ascii: ":"): pseudoClass = []
                default: break
                }
            }

            /// Ends a name. Returns whether it is that of a function that counts siblings.
            @discardableResult
            private mutating func endName() -> Bool {
                isInName = false
                guard let name = pseudoClass else { return false }
                pseudoClass = nil
                let text = String(decoding: name, as: UTF8.self)
                let isNth = text.hasPrefix("nth-")
                if isNth || text.hasSuffix("-of-type") { levels[levels.count - 1].countsSiblings = true }
                return isNth
            }
        }
    }
#endif
