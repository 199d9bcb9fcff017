/// A picture as text for a terminal.
public struct TerminalDrawing: Sendable, Equatable {
    /// Lines that the picture covers.
    public var rows: Int
    /// Columns that it covers.
    public var columns: Int
    /// Draws it from the cursor on, which must be at the beginning of a line, and leaves the cursor at the beginning of the
    /// line below.
    public var text: String

    /// A drawing of so many lines and columns.
    public init(rows: Int, columns: Int, text: String) {
        self.rows = rows
        self.columns = columns
        self.text = text
    }
}
