#if GTK

    /// What one cell in sight shows, by the pixels that GTK has of it.
    struct CellReading: Codable {
        var position: Int
        /// The number of the picture that the cell is to show.
        var expected: Int
        /// The number that the pixels say; nil for no picture, or one whose number cannot be read.
        var found: Int?
        var isFailed: Bool
        var hasPicture: Bool
        /// Where the picture is in the window's surface, in points.
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }
#endif
