#include "base/utm.h"

#include <math.h>

enum { TERMS = 6 };

static const double equator = 6378137.0; /* radius [m] */
static const double flattening = 1.0 / 298.257223563;
static const double scale = 0.9996; /* on the central meridian */
static const double false_easting = 500000.0, false_northing = 10000000.0; /* [m] */
static const double degree = 3.14159265358979323846 / 180.0;

/* The tangent of a latitude from that of the conformal latitude: Newton's method, which takes two or three turns. */
static double tangent_of(double conformal, double e)
{
    double tau = conformal;
    for (int turn = 0; turn < 8; turn++) {
        const double root = sqrt(1.0 + tau * tau);
        const double sigma = sinh(e * atanh(e * tau / root));
        const double here = tau * sqrt(1.0 + sigma * sigma) - sigma * root;
        const double step = (conformal - here) / sqrt(1.0 + here * here) *
                            (1.0 + (1.0 - e * e) * tau * tau) / ((1.0 - e * e) * root);
        tau += step;
        if (fabs(step) <= 1e-15 * (1.0 + fabs(tau))) {
            break;
        }
    }
    return tau;
}

/* The radius of the circle whose circumference a meridian has (Karney's equation 14) [m] */
static double rectifying_radius(double n)
{
    const double n2 = n * n, n4 = n2 * n2;
    return equator / (1.0 + n) * (1.0 + n2 / 4.0 + n4 / 64.0 + n4 * n2 / 256.0);
}

/* Of a zone [degree] */
static double central_meridian(int zone)
{
    return 6.0 * zone - 183.0;
}

void strake_utm_from_geographic(int zone, bool is_south, double longitude, double latitude,
                                double *x, double *y)
{
    const double n = flattening / (2.0 - flattening);
    const double e = sqrt(flattening * (2.0 - flattening));
    const double n2 = n * n, n3 = n2 * n, n4 = n2 * n2, n5 = n4 * n, n6 = n3 * n3;
    /* Karney's equation 35. */
    const double alpha[TERMS] = {
        n / 2.0 - 2.0 * n2 / 3.0 + 5.0 * n3 / 16.0 + 41.0 * n4 / 180.0 - 127.0 * n5 / 288.0 +
            7891.0 * n6 / 37800.0,
        13.0 * n2 / 48.0 - 3.0 * n3 / 5.0 + 557.0 * n4 / 1440.0 + 281.0 * n5 / 630.0 -
            1983433.0 * n6 / 1935360.0,
        61.0 * n3 / 240.0 - 103.0 * n4 / 140.0 + 15061.0 * n5 / 26880.0 + 167603.0 * n6 / 181440.0,
        49561.0 * n4 / 161280.0 - 179.0 * n5 / 168.0 + 6601661.0 * n6 / 7257600.0,
        34729.0 * n5 / 80640.0 - 3418889.0 * n6 / 1995840.0,
        212378941.0 * n6 / 319334400.0,
    };
    const double away = remainder(longitude - central_meridian(zone), 360.0) * degree;
    const double tau = tan(latitude * degree), root = sqrt(1.0 + tau * tau);
    const double sigma = sinh(e * atanh(e * tau / root));
    const double conformal = tau * sqrt(1.0 + sigma * sigma) - sigma * root;
    const double xi = atan2(conformal, cos(away));
    const double eta = asinh(sin(away) / hypot(conformal, cos(away)));
    double north = xi, east = eta;
    for (int k = 0; k < TERMS; k++) {
        const double twice = 2.0 * (k + 1);
        north += alpha[k] * sin(twice * xi) * cosh(twice * eta);
        east += alpha[k] * cos(twice * xi) * sinh(twice * eta);
    }
    *x = false_easting + scale * rectifying_radius(n) * east;
    *y = (is_south ? false_northing : 0.0) + scale * rectifying_radius(n) * north;
}

void strake_utm_to_geographic(int zone, bool is_south, double x, double y, double *longitude,
                              double *latitude)
{
    const double n = flattening / (2.0 - flattening);
    const double e = sqrt(flattening * (2.0 - flattening));
    const double n2 = n * n, n3 = n2 * n, n4 = n2 * n2, n5 = n4 * n, n6 = n3 * n3;
    const double radius = rectifying_radius(n);
    /* Karney's equation 36. */
    const double beta[TERMS] = {
        n / 2.0 - 2.0 * n2 / 3.0 + 37.0 * n3 / 96.0 - n4 / 360.0 - 81.0 * n5 / 512.0 +
            96199.0 * n6 / 604800.0,
        n2 / 48.0 + n3 / 15.0 - 437.0 * n4 / 1440.0 + 46.0 * n5 / 105.0 -
            1118711.0 * n6 / 3870720.0,
        17.0 * n3 / 480.0 - 37.0 * n4 / 840.0 - 209.0 * n5 / 4480.0 + 5569.0 * n6 / 90720.0,
        4397.0 * n4 / 161280.0 - 11.0 * n5 / 504.0 - 830251.0 * n6 / 7257600.0,
        4583.0 * n5 / 161280.0 - 108847.0 * n6 / 3991680.0,
        20648693.0 * n6 / 638668800.0,
    };
    const double xi = (y - (is_south ? false_northing : 0.0)) / (scale * radius);
    const double eta = (x - false_easting) / (scale * radius);
    double north = xi, east = eta;
    for (int k = 0; k < TERMS; k++) {
        const double twice = 2.0 * (k + 1);
        north -= beta[k] * sin(twice * xi) * cosh(twice * eta);
        east -= beta[k] * cos(twice * xi) * sinh(twice * eta);
    }
    const double conformal = sin(north) / hypot(sinh(east), cos(north));
    *longitude = remainder(central_meridian(zone) + atan2(sinh(east), cos(north)) / degree, 360.0);
    *latitude = atan(tangent_of(conformal, e)) / degree;
}
