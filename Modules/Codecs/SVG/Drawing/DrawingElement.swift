#if SVG
    /// An element of a document, as far as it determines how much work it is to draw it.
    struct DrawingElement {
        /// The role of an element in a drawing.
        enum Kind: UInt8 {
            /// Its children are drawn where it is.
            case container
            case shape
            case text
            case use
            case image
            /// Its children are drawn only where something refers to it.
            case definition
            case pattern
            case filterPrimitive
            /// Neither it nor its children are drawn by themselves, such as the stops of a gradient.
            case other
        }

        let kind: Kind
        let type: String
        var id: String?
        var classes: [String] = []
        var properties = DrawingProperties()
        /// The name of the element that `href` refers to.
        var reference: String?
        /// The index after the last element inside this one.
        var end = 0
        /// The nanoseconds for the element itself.
        var time = DrawingTime.element
        /// The area of the rectangle around a shape, and the area that the shape fills.
        var area = 0.0
        var filledArea = 0.0
        /// The length and the number of segments of a shape.
        var length = 0.0
        var segmentCount = 0.0
        /// The sum of the square roots of the lengths of the curves of a shape.
        var curveRoot = 0.0
        /// The number of bytes of the names of classes, and of all attributes.
        var classByteCount = 0.0
        var attributeByteCount = 0.0
        /// The tile of a pattern, without what it inherits.
        var tile = PatternTile()
        /// The factor by which a view box enlarges the content at most.
        var viewBoxScale = 1.0
        /// The factor for content that a view box of this element enlarges to the size of the element that refers to
        /// it.
        var inverseViewBoxSide: Double?
        /// The longer side of the element in pixels.
        var side: Double?
        /// The nanoseconds of a filter for each pixel of the image, times the square of the scale of the document.
        var scaledPixelTime = 0.0
        var imageByteCount = 0.0
        /// The area of an image.
        var imageArea = 0.0
        /// The number of bytes of text.
        var characterCount = 0.0
        /// The elements, depth, segments, dashes and text of an embedded document.
        var embedded = DrawingCost()

        init(_ kind: Kind, type: String) {
            self.kind = kind
            self.type = type
        }

        var isGradient: Bool { type == "linearGradient" || type == "radialGradient" }

        /// Whether the element is drawn where it is, and not only where something refers to it.
        var isDrawn: Bool {
            switch kind {
            case .container, .shape, .text, .use, .image: true
            case .definition, .pattern, .filterPrimitive, .other: false
            }
        }
    }

    extension DrawingElement {
        /// The roles of the elements that librsvg draws. Others are left out.
        static let kinds: [String: Kind] = [
            "svg": .container, "g": .container, "a": .container, "switch": .container,
            "rect": .shape, "circle": .shape, "ellipse": .shape, "line": .shape, "polyline": .shape, "polygon": .shape,
            "path": .shape,
            "text": .text, "tspan": .text, "tref": .text,
            "use": .use, "image": .image,
            "defs": .definition, "symbol": .definition, "marker": .definition, "mask": .definition,
            "clipPath": .definition, "filter": .definition, "pattern": .pattern,
            "linearGradient": .other, "radialGradient": .other, "stop": .other, "style": .other, "title": .other,
            "feBlend": .filterPrimitive, "feColorMatrix": .filterPrimitive, "feComponentTransfer": .filterPrimitive,
            "feComposite": .filterPrimitive, "feConvolveMatrix": .filterPrimitive,
            "feDiffuseLighting": .filterPrimitive, "feDisplacementMap": .filterPrimitive,
            "feDropShadow": .filterPrimitive, "feFlood": .filterPrimitive, "feGaussianBlur": .filterPrimitive,
            "feImage": .filterPrimitive, "feMerge": .filterPrimitive, "feMorphology": .filterPrimitive,
            "feOffset": .filterPrimitive, "feSpecularLighting": .filterPrimitive, "feTile": .filterPrimitive,
            "feTurbulence": .filterPrimitive,
            "feDistantLight": .other, "fePointLight": .other, "feSpotLight": .other, "feFuncR": .other,
            "feFuncG": .other, "feFuncB": .other, "feFuncA": .other, "feMergeNode": .other,
        ]
    }
#endif
