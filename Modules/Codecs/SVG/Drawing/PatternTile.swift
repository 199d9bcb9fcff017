#if SVG
    /// The attributes that determine the size of the tile of a pattern. Source: SVG 1.1, section 13.3.
    struct PatternTile {
        var width: SVGLength?
        var height: SVGLength?
        /// Whether the lengths are factors of the size of a shape. Default: nil, which counts as true.
        var isRelative: Bool?
        /// The factor by which the transform of the pattern enlarges lengths at most.
        var scale = 1.0
        /// The reference length of percentages of lengths that are not relative.
        var viewport = 0.0

        /// Returns the tile of a pattern that refers to another one. It inherits what it does not set.
        func inheriting(_ other: PatternTile) -> PatternTile {
            var tile = self
            tile.width = width ?? other.width
            tile.height = height ?? other.height
            tile.isRelative = isRelative ?? other.isRelative
            if scale == 1 { tile.scale = other.scale }
            return tile
        }

        /// Returns the area of the tile for a shape with an area, in the units of the shape.
        func area(forShapeOf shapeArea: Double) -> Double {
            guard let width, let height else { return 0 }
            let isRelative = self.isRelative ?? true
            let reference = isRelative ? 1 : viewport
            let area = abs(width.pixels(of: reference) * height.pixels(of: reference)) * scale * scale
            guard !area.isNaN else { return .infinity }
            return isRelative ? area * max(1, shapeArea) : area
        }
    }
#endif
