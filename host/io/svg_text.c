#include "io/svg_text.h"

void strake_svg_begin(strake_text *svg, double width, double height, int letters, const char *style)
{
    strake_text_print(svg,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                      "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"%d\">\n"
                      "<style>%s</style>\n"
                      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                      width, height, width, height, letters, style);
}

void strake_svg_escape(strake_text *svg, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            strake_text_print(svg, "&amp;");
            break;
        case '<':
            strake_text_print(svg, "&lt;");
            break;
        case '>':
            strake_text_print(svg, "&gt;");
            break;
        case '"':
            strake_text_print(svg, "&quot;");
            break;
        default:
            /* Names come from drivers and files: what is not ASCII may not be UTF-8 either. */
            strake_text_print(svg, "%c", *c >= ' ' && *c <= '~' ? *c : '?');
        }
    }
}

void strake_svg_text(strake_text *svg, double x, double y, const char *class, const char *text)
{
    strake_text_print(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    strake_svg_escape(svg, text);
    strake_text_print(svg, "</text>\n");
}
